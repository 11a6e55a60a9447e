/* ptrace: the supervisor becomes our puppet. */
#include "../attack.h"
int main(void)
{
	pid_t pid = supervisor();
	if (ptrace(PTRACE_SEIZE, pid, 0, 0) < 0)
		return 1;
	broke("it is traced");
	ptrace(PTRACE_INTERRUPT, pid, 0, 0);
	waitpid(pid, NULL, __WALL);
	return ptrace(PTRACE_DETACH, pid, 0, 0) < 0;
}
