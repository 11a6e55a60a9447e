/* The same by its thread. */
#include "../attack.h"
int main(void)
{
	return show_file(proc(OUTSIDER, text("task/%s/environ", from_arena("A_OUTSIDER"), NULL)));
}
