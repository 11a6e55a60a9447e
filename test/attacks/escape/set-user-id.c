/* A set-user-id program has other rights than whoever started it. Needs: ordinary. */
#include "../attack.h"
int main(void)
{
	char status[BIG] = "";
	int ends[2];
	if (pipe(ends) < 0)
		return 1;
	if (fork() == 0) {
		dup2(ends[1], 1);
		run_file(from_arena("A_SETUID"));
		_exit(1);
	}
	close(ends[1]);
	wait(NULL);
	ssize_t size = read(ends[0], status, sizeof status - 1);
	return size > 0 && strstr(status, "euid 0") ? broke("a program of ours has another user's rights") : 1;
}
