/* A daemon by the book: two forks, a session of its own. It goes on when the program has ended. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	int ready[2];
	char byte;
	if (pipe(ready) < 0)
		return 1;
	pid_t first = fork();
	if (first == 0) {
		pid_t session = setsid();
		printf("new session: %d, of one group: %d\n", session == getpid(), getpgrp() == session);
		fflush(stdout);
		if (fork() > 0)
			_exit(3);
		/* Orphaned, and not a session leader. */
		printf("leader: %d, in the session: %d\n", getsid(0) == getpid(), getsid(0) == session);
		fflush(stdout);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		usleep(300 * 1000);
		int fd = open("daemon", O_CREAT | O_WRONLY, 0644);
		if (fd < 0 || write(fd, "still here\n", 11) != 11)
			_exit(1);
		printf("daemon ends\n");
		return 0;
	}
	int status;
	waitpid(first, &status, 0);
	if (read(ready[0], &byte, 1) != 1)
		return 1;
	printf("program ends, first child %d\n", WEXITSTATUS(status));
	return 6;
}
