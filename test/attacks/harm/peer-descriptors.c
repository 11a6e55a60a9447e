/* pidfd_getfd by the pidfd of a socket's peer: the supervisor's descriptors, its listener among them. Needs: root. */
#include "../peer.h"
int main(void)
{
	int pidfd = pidfd_of_supervisor(peer_by_connecting());
	for (int fd = 0; pidfd >= 0 && fd < 64; fd++)
		if (syscall(SYS_pidfd_getfd, pidfd, fd, 0) >= 0)
			return broke("we have a descriptor of it");
	return 1;
}
