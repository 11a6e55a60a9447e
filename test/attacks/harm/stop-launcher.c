/* SIGSTOP to the process above us. */
#include "../attack.h"
int main(void)
{
	pid_t pid = launcher();
	int down = kill(pid, SIGSTOP) == 0 && is_down(pid);
	kill(pid, SIGCONT);
	return down ? broke("it is stopped") : 1;
}
