/* A child holds the O_PATH handle; we open it in the child's /proc folder. */
#include "../attack.h"
int main(void)
{
	int handle = open(SECRET, O_PATH);
	char name[32];
	pid_t pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	snprintf(name, sizeof name, "fd/%d", handle);
	int status = show_file(proc(pid, name));
	kill(pid, SIGKILL);
	return status;
}
