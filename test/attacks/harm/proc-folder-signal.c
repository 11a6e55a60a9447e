/* A folder of /proc is as good as a pidfd for pidfd_send_signal. */
#include "../attack.h"
int main(void)
{
	pid_t pid = supervisor();
	int fd = open(folder_of(proc(pid, "stat")), O_RDONLY | O_DIRECTORY);
	return syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0 && is_down(pid) ? broke("it is dead") : 1;
}
