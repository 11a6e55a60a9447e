/* By a pidfd, also one that is its folder in /proc. */
#include "../attack.h"
int main(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, OUTSIDER, 0), folder = open(folder_of(proc(OUTSIDER, "stat")), O_RDONLY | O_DIRECTORY);
	return worked(syscall(SYS_pidfd_send_signal, pidfd, SIGUSR1, NULL, 0)) & worked(syscall(SYS_pidfd_send_signal, folder, SIGUSR2, NULL, 0));
}
