/* CLONE_UNTRACED: a child that no tracer is to be told of; it writes outside. */
#include "../attack.h"
static int act(void *unused)
{
	(void)unused;
	_exit(mkdir(in(OUTSIDE, "new"), 0700));
}
int main(void)
{
	static char stack[65536];
	pid_t pid = clone(act, stack + sizeof stack, CLONE_UNTRACED | SIGCHLD, NULL);
	return waitpid(pid, NULL, 0) < 0;
}
