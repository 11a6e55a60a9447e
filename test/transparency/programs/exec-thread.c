/* A thread that is not the leader calls execve, while the leader and others are busy in calls of all kinds. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char **arguments;

static void *busy(void *unused)
{
	for (;;)
		syscall(SYS_getppid);
	return unused;
}

static void *asleep(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void *execs(void *unused)
{
	char left[16];
	usleep(5000);
	snprintf(left, sizeof left, "%d", atoi(arguments[1]) - 1);
	execl(arguments[0], arguments[0], left, (char *)NULL);
	perror("exec");
	exit(1);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	arguments = argv;
	if (argc != 2)
		return 2;
	printf("%s left, %s\n", argv[1], getpid() == syscall(SYS_gettid) ? "leader" : "not leader");
	fflush(stdout);
	if (atoi(argv[1]) == 0)
		return 9;
	pthread_create(&thread, NULL, busy, NULL);
	pthread_create(&thread, NULL, asleep, NULL);
	pthread_create(&thread, NULL, execs, NULL);
	if (atoi(argv[1]) % 2)
		pthread_exit(NULL); /* the leader is a zombie by the time of the exec */
	pthread_join(thread, NULL);
	return 1;
}
