/* SIGSTOP to the supervisor: nobody decides any more. */
#include "../attack.h"
int main(void)
{
	pid_t pid = supervisor();
	int down = kill(pid, SIGSTOP) == 0 && is_down(pid);
	kill(pid, SIGCONT);
	return down ? broke("it is stopped") : 1;
}
