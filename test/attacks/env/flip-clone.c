/* Needs: userns. clone3's flags flip: none when they are checked, a user namespace when they are used. */
#include "../race.h"
#include <linux/sched.h>
static int is_new(const char *own)
{
	char name[64] = "";
	return readlink("/proc/self/ns/user", name, sizeof name - 1) > 0 && strcmp(name, own) != 0;
}
int main(void)
{
	static struct clone_args c = { .exit_signal = SIGCHLD };
	const uint64_t good = 0, bad = CLONE_NEWUSER;
	char own[64] = "";
	int status;
	if (readlink("/proc/self/ns/user", own, sizeof own - 1) <= 0)
		return 1;
	struct race *r = start_flip(&c.flags, sizeof c.flags, &good, &bad);
	for (int i = 0; flips_on(r, i); i++) {
		pid_t child = (pid_t)syscall(SYS_clone3, &c, sizeof c);
		if (child == 0)
			_exit(is_new(own) ? 42 : 0);
		if (child < 0 && errno == ENOSYS)
			break;
		if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 42) {
			fprintf(stderr, "try %d\n", i);
			return r->over = 1, broke("a namespace was made");
		}
	}
	return r->over = 1;
}
