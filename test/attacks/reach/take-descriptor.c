/* pidfd_getfd: the memory file of a process outside. */
#include "../attack.h"
int main(void)
{
	char bytes[256] = "";
	int pidfd = (int)syscall(SYS_pidfd_open, OUTSIDER, 0);
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, atoi(from_arena("A_OUTSIDER_MEMORY")), 0);
	return pread(fd, bytes, sizeof bytes - 1, 0) <= 0 ? 1 : puts(bytes) < 0;
}
