/* Its descriptors' folder held open, and what lies in it opened with openat2. */
#include "../attack.h"
int main(void)
{
	struct open_how how = { .flags = O_RDONLY };
	int fds = open(proc(OUTSIDER, "fd"), O_RDONLY | O_DIRECTORY);
	return show((int)syscall(SYS_openat2, fds, from_arena("A_OUTSIDER_MEMORY"), &how, sizeof how));
}
