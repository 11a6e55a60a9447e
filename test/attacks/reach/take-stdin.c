/* pidfd_getfd of its stdin, opened anew for writing through our own /proc. */
#include "../attack.h"
int main(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, OUTSIDER, 0), fd = (int)syscall(SYS_pidfd_getfd, pidfd, 0, 0);
	char number[16];
	snprintf(number, sizeof number, "%d", fd);
	return change(open(in("/proc/self/fd", number), O_WRONLY | O_NONBLOCK));
}
