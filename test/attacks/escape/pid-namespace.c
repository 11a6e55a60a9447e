/* Needs: userns. A process in a namespace of its own has another number: is it still known? */
#include "../attack.h"
int main(void)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
		return 1;
	pid_t pid = fork();
	if (pid == 0)
		_exit(mkdir(in(OUTSIDE, "new"), 0700) < 0);
	return waitpid(pid, NULL, 0) < 0;
}
