/* SO_PEERPIDFD: whoever connects in our place is the peer of our listener, and gets a signal. */
#include "../peer.h"
int main(void)
{
	int pidfd = pidfd_of_supervisor(peer_by_connecting());
	return syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0 && is_down(supervisor()) ? broke("it is dead") : 1;
}
