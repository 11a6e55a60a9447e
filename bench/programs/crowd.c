/*
 * Many processes or threads that make the same call: does a call cost more when there are more of them?
 *
 * Usage: crowd processes|threads HOW_MANY CALLS
 * All exist before the first call and until after the last one. They make CALLS calls in total, shared out evenly.
 * Prints nanoseconds per call, without the cost of starting and ending them.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long each;
static int gate[2], ready[2], done[2], leave[2];

static void work(void)
{
	char byte = 'r';
	if (write(ready[1], &byte, 1) != 1 || read(gate[0], &byte, 1) < 0)
		_exit(1);
	for (long i = 0; i < each; i++) {
		int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			_exit(1);
		close(fd);
	}
	if (write(done[1], &byte, 1) != 1 || read(leave[0], &byte, 1) < 0)
		_exit(1);
}

static void *run(void *unused)
{
	work();
	return unused;
}

static double nanoseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Waits for this many messages. */
static int all_of(long many, int fd)
{
	char bytes[4096];
	while (many > 0) {
		ssize_t got = read(fd, bytes, sizeof bytes);
		if (got <= 0)
			return 0;
		many -= got;
	}
	return 1;
}

int main(int argc, char **argv)
{
	long many = argc == 4 ? atol(argv[2]) : 0, calls = argc == 4 ? atol(argv[3]) : 0;
	if (many < 1 || calls < many || pipe(gate) < 0 || pipe(ready) < 0 || pipe(done) < 0 || pipe(leave) < 0) {
		fputs("usage: crowd processes|threads HOW_MANY CALLS\n", stderr);
		return 2;
	}
	int threads = strcmp(argv[1], "threads") == 0;
	pthread_t *started = calloc((size_t)many, sizeof *started);
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * 1024);
	each = calls / many;
	for (long i = 0; i < many; i++) {
		if (threads && pthread_create(&started[i], &small, run, NULL) != 0)
			return 1;
		pid_t pid = threads ? 1 : fork();
		if (pid < 0)
			return 1;
		if (pid == 0) {
			close(gate[1]);
			close(leave[1]);
			work();
			_exit(0);
		}
	}
	if (!all_of(many, ready[0]))
		return 1;
	double from = nanoseconds();
	close(gate[1]); /* start all */
	if (!all_of(many, done[0]))
		return 1;
	double each_took = (nanoseconds() - from) / (double)(each * many);
	close(leave[1]); /* let all end */
	int status, failed = 0;
	for (long i = 0; i < many; i++) {
		if (threads)
			pthread_join(started[i], NULL);
		else if (wait(&status) < 0 || status != 0)
			failed = 1;
	}
	printf("%.1f\n", each_took);
	return failed;
}
