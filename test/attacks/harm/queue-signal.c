/* rt_sigqueueinfo, with a made-up sender where that is possible. */
#include "../attack.h"
int main(void)
{
	pid_t pid = supervisor();
	siginfo_t info = { .si_signo = SIGKILL, .si_code = SI_QUEUE };
	info.si_pid = 1;
	return syscall(SYS_rt_sigqueueinfo, pid, SIGKILL, &info) == 0 && is_down(pid) ? broke("it is dead") : 1;
}
