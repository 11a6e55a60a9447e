/* As race-traced, with the signal blocked that would stop the program for its tracer. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(PERMITTED, FORBIDDEN);
	start_thread(r);
	for (int i = 0; i < attempts() / 10 + 100; i++) {
		int status;
		pid_t pid = fork();
		if (pid == 0) {
			sigset_t every;
			sigfillset(&every);
			sigprocmask(SIG_SETMASK, &every, NULL);
			ptrace(PTRACE_TRACEME, 0, 0, 0);
			run_file(r->path);
			_exit(1);
		}
		while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
			ptrace(PTRACE_CONT, pid, 0, 0);
	}
	return r->over = 1, 0;
}
