/*
 * A minimal supervisor by ptrace and RET_TRACE: it reads the path of each openat and refuses a prefix.
 * Usage: trace LENGTH COMMAND…
 */
#define _GNU_SOURCE
#include "filter.h"
#include "path.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

static const long OPTIONS = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
			    PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

static void decide(pid_t tid)
{
	struct user_regs_struct registers;
	if (ptrace(PTRACE_GETREGS, tid, 0, &registers) < 0)
		return;
	if (!path_passes(tid, registers.rsi)) {
		registers.orig_rax = (unsigned long long)-1;
		registers.rax = (unsigned long long)-EACCES;
		ptrace(PTRACE_SETREGS, tid, 0, &registers);
	}
}

/* Returns the signal with which to continue the tracee. */
static int stopped(pid_t tid, int status)
{
	int what = status >> 16;
	if (what == PTRACE_EVENT_SECCOMP)
		decide(tid);
	return what == 0 ? WSTOPSIG(status) : 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 125;
	pid_t child = fork();
	if (child == 0) {
		raise(SIGSTOP);
		if (install_filter(SECCOMP_RET_TRACE, 0, atoi(argv[1])) == 0)
			execvp(argv[2], argv + 2);
		_exit(127);
	}
	int status, code = 125;
	waitpid(child, &status, WUNTRACED);
	if (ptrace(PTRACE_SEIZE, child, 0, OPTIONS) < 0) {
		perror("trace");
		kill(child, SIGKILL);
		return 125;
	}
	kill(child, SIGCONT);
	for (pid_t tid; (tid = waitpid(-1, &status, __WALL)) > 0;) {
		if (WIFSTOPPED(status))
			ptrace(PTRACE_CONT, tid, 0, (long)stopped(tid, status));
		else if (tid == child && WIFEXITED(status))
			code = WEXITSTATUS(status);
	}
	return code;
}
