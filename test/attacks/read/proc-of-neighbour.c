/* The same through the neighbour's /proc folder. */
#include "../attack.h"
int main(void)
{
	return show_file(proc(atoi(from_arena("A_KEEPER")), text("fd/%s", from_arena("A_KEEPER_FD"), NULL)));
}
