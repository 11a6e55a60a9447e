/* A deleted file that a process outside has open, by its thread and a link. */
#include "../attack.h"
int main(void)
{
	const char *fd = proc(OUTSIDER, text("task/%s/fd/%s", from_arena("A_OUTSIDER"), from_arena("A_OUTSIDER_GONE")));
	return symlink(fd, "l") < 0 ? 1 : show_file("l");
}
