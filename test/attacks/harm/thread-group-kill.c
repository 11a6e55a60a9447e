/* tgkill. */
#include "../attack.h"
int main(void)
{
	pid_t pid = supervisor();
	return syscall(SYS_tgkill, pid, pid, SIGKILL) == 0 && is_down(pid) ? broke("it is dead") : 1;
}
