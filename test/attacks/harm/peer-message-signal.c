/* SO_PASSPIDFD: whoever sends a datagram in our place comes with it as a pidfd, and gets a signal. */
#include "../peer.h"
int main(void)
{
	int pidfd = pidfd_of_supervisor(peer_by_sending());
	return syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0 && is_down(supervisor()) ? broke("it is dead") : 1;
}
