/* The same with clone3, whose flags lie in memory. */
#include "../attack.h"
#include <linux/sched.h>
int main(void)
{
	struct clone_args args = { .flags = CLONE_UNTRACED, .exit_signal = SIGCHLD };
	long pid = syscall(SYS_clone3, &args, sizeof args);
	if (pid == 0)
		_exit(mkdir(in(OUTSIDE, "new"), 0700));
	return waitpid((pid_t)pid, NULL, 0) < 0;
}
