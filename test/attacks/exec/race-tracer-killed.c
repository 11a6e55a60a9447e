/* The program's tracer is killed while the program executes: nobody holds it any more. */
#include "../race.h"
static void trace(struct race *r)
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		run_file(r->path);
		_exit(1);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, pid, 0, 0);
	_exit(0);
}
int main(void)
{
	struct race *r = race_of(PERMITTED, FORBIDDEN);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	start_thread(r);
	for (int i = 0; i < attempts() / 10 + 100; i++) {
		pid_t tracer = fork();
		if (tracer == 0)
			trace(r);
		pause_a_little(r, 2000000);
		kill(tracer, SIGKILL);
		while (wait(NULL) > 0)
			;
	}
	return r->over = 1, 0;
}
