/* With a value, as only the kernel or a friend would. */
#include "../attack.h"
int main(void)
{
	siginfo_t info = { .si_signo = SIGUSR1, .si_code = SI_QUEUE };
	info.si_pid = getpid();
	return worked(syscall(SYS_rt_sigqueueinfo, OUTSIDER, SIGUSR1, &info)) & worked(syscall(SYS_rt_tgsigqueueinfo, OUTSIDER, OUTSIDER, SIGUSR1, &info));
}
