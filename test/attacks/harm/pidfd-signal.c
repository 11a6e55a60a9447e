/* pidfd_open and pidfd_send_signal. */
#include "../attack.h"
int main(void)
{
	pid_t pid = supervisor();
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	return syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0 && is_down(pid) ? broke("it is dead") : 1;
}
