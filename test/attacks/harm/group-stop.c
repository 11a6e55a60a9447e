/* The group stopped: nobody is left who could continue it. */
#include "../attack.h"
int main(void)
{
	pid_t pid = supervisor(), group = getpgid(pid);
	pid_t child = fork();
	if (child == 0) {
		setsid();
		usleep(300000);
		int down = is_down(pid);
		kill(-group, SIGCONT);
		_exit(down);
	}
	kill(-group, SIGSTOP);
	int status = 0;
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) ? broke("it was stopped") : 1;
}
