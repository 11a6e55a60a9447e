/*
 * Makes one kind of call over and over and says how long one took.
 *
 * Usage: calls open|try|ppid|pgid COUNT [marks]
 * Prints nanoseconds per call; with `marks`, a line "mark PERCENT" at every 10 % instead of timing itself.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MARKS = 10 };

static int open_and_close(void)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY | O_CLOEXEC, 0);
	return fd < 0 ? -1 : close(fd);
}

/* Whatever becomes of it: here only the time counts. */
static int try_to_open(void)
{
	open_and_close();
	return 0;
}

static int ask_parent(void)
{
	return syscall(SYS_getppid) < 0 ? -1 : 0;
}

/* Refused or not: here only the time counts. */
static int ask_group(void)
{
	syscall(SYS_getpgid, 0);
	return 0;
}

static void repeat(int (*call)(void), long count)
{
	for (long i = 0; i < count; i++) {
		if (call() < 0) {
			perror("calls");
			exit(1);
		}
	}
}

static double nanoseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int (*call_named(const char *name))(void)
{
	if (strcmp(name, "open") == 0)
		return open_and_close;
	if (strcmp(name, "try") == 0)
		return try_to_open;
	if (strcmp(name, "ppid") == 0)
		return ask_parent;
	return strcmp(name, "pgid") == 0 ? ask_group : NULL;
}

int main(int argc, char **argv)
{
	long count = argc >= 3 ? atol(argv[2]) : 0;
	int (*call)(void) = argc >= 3 ? call_named(argv[1]) : NULL;
	if (count < MARKS || call == NULL) {
		fputs("usage: calls open|try|ppid|pgid COUNT [marks]\n", stderr);
		return 2;
	}
	if (argc > 3) {
		for (int i = 1; i <= MARKS; i++) {
			repeat(call, count / MARKS);
			printf("mark %d\n", i * 100 / MARKS);
			fflush(stdout);
		}
		return 0;
	}
	repeat(call, count / 5); /* caches and compilers get warm */
	double from = nanoseconds();
	repeat(call, count);
	printf("%.1f\n", (nanoseconds() - from) / (double)count);
	return 0;
}
