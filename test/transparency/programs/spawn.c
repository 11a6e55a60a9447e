/* posix_spawn and vfork, many times and from several threads at once. */
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static long statuses[4];

static void *work(void *argument)
{
	long number = (long)argument;
	for (int i = 0; i < 25; i++) {
		char code[8];
		int status = -1;
		pid_t pid;
		snprintf(code, sizeof code, "exit %d", i);
		char *argv[] = { "sh", "-c", code, NULL };
		if (i % 2) {
			if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) != 0)
				return NULL;
		} else {
			pid = vfork();
			if (pid == 0) {
				execve("/bin/sh", argv, environ);
				_exit(127);
			}
		}
		if (waitpid(pid, &status, 0) != pid)
			return NULL;
		statuses[number] += WEXITSTATUS(status);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[4];
	for (long i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%ld %ld %ld %ld\n", statuses[0], statuses[1], statuses[2], statuses[3]);
	pid_t failing;
	char *none[] = { "none", NULL };
	printf("spawn of what is not there: %d\n", posix_spawn(&failing, "/nonexistent", NULL, NULL, none, environ));
	return 0;
}
