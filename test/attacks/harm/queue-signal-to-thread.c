/* rt_tgsigqueueinfo. */
#include "../attack.h"
int main(void)
{
	pid_t pid = supervisor();
	siginfo_t info = { .si_signo = SIGKILL, .si_code = SI_QUEUE };
	return syscall(SYS_rt_tgsigqueueinfo, pid, pid, SIGKILL, &info) == 0 && is_down(pid) ? broke("it is dead") : 1;
}
