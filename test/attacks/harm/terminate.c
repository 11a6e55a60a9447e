/* Every signal that ends a process by default, one after the other. */
#include "../attack.h"
int main(void)
{
	static const int SIGNALS[] = { SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGXCPU, SIGSYS };
	pid_t pid = supervisor();
	for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++) {
		signal(SIGNALS[i], SIG_IGN);
		kill(pid, SIGNALS[i]);
	}
	return is_down(pid) ? broke("it is dead") : 1;
}
