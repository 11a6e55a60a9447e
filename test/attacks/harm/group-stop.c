/* The group stopped: nobody is left who could continue it. */
#include "../attack.h"
int main(void)
{
	pid_t pid = supervisor(), group = getpgid(pid);
	int ready[2];
	char byte;
	if (pipe(ready) < 0)
		return 1;
	pid_t child = fork();
	if (child == 0) {
		setsid();
		if (write(ready[1], "r", 1) != 1)
			_exit(0);
		usleep(300000);
		int down = is_down(pid);
		kill(-group, SIGCONT);
		_exit(down);
	}
	if (read(ready[0], &byte, 1) != 1) /* else it would be stopped too */
		return 1;
	kill(-group, SIGSTOP);
	int status = 0;
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) ? broke("it was stopped") : 1;
}
