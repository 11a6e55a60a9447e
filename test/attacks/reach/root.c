/* The root of a process outside leads to a secret. */
#include "../attack.h"
int main(void)
{
	return show_file(proc(OUTSIDER, text("root%s", SECRET, NULL))) & show_file(proc(OUTSIDER, text("task/%s/root%s", from_arena("A_OUTSIDER"), SECRET)));
}
