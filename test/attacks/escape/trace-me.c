/* A child that lets its parent trace it, and is then let go: who else traced it? */
#include "../attack.h"
int main(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(mkdir(in(OUTSIDE, "new"), 0700));
	}
	waitpid(pid, NULL, WUNTRACED);
	ptrace(PTRACE_DETACH, pid, 0, 0);
	kill(pid, SIGCONT);
	return waitpid(pid, NULL, 0) < 0;
}
