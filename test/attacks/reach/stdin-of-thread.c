/* The same by its thread, through a link, for reading and writing. */
#include "../attack.h"
int main(void)
{
	return symlink(proc(OUTSIDER, text("task/%s/fd", from_arena("A_OUTSIDER"), NULL)), "l") < 0 ? 1 : change(open("l/0", O_RDWR | O_NONBLOCK));
}
