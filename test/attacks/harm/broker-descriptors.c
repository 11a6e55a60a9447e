/* pidfd_getfd: the descriptors of our parent, which makes calls for us; the listener is among them. */
#include "../attack.h"
int main(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, broker(), 0);
	for (int fd = 0; pidfd >= 0 && fd < 64; fd++)
		if (syscall(SYS_pidfd_getfd, pidfd, fd, 0) >= 0)
			return broke("we have a descriptor of it");
	return 1;
}
