/*
 * Makes one kind of call repeatedly and prints the time of one.
 *
 * Usage: calls KIND COUNT [marks]   KIND is one of those in CALLS
 * Prints nanoseconds per call; with `marks`, a line "mark PERCENT" at every 10 % instead of timing itself.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MARKS = 10 };

static int open_and_close(void)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY | O_CLOEXEC, 0);
	return fd < 0 ? -1 : close(fd);
}

/* The result does not matter: only the time counts. */
static int try_to_open(void)
{
	open_and_close();
	return 0;
}

static int ask_parent(void)
{
	return syscall(SYS_getppid) < 0 ? -1 : 0;
}

static int open_behind_link(void)
{
	int fd = open("/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -1 : close(fd);
}

static int open_missing(void)
{
	return open("/usr/include/hermes/nothing.h", O_RDONLY) < 0 ? 0 : -1;
}

static int make_and_remove(void)
{
	int fd = open("made-by-calls", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	return fd < 0 || close(fd) < 0 ? -1 : unlink("made-by-calls");
}

static int make_folder(void)
{
	return mkdir("folder-by-calls", 0755) < 0 ? -1 : rmdir("folder-by-calls");
}

static int change_by_descriptor(void)
{
	static int fd = -1;
	if (fd < 0) {
		fd = open("made-by-calls", O_CREAT | O_RDWR | O_CLOEXEC, 0644);
		unlink("made-by-calls");
	}
	return fchmod(fd, 0644);
}

static int seek_program(void)
{
	char *words[] = { "true", NULL };
	return execve("/usr/local/games/true", words, environ) < 0 ? 0 : -1;
}

static int start_program(void)
{
	char *words[] = { "true", NULL };
	pid_t child;
	int status;
	if (posix_spawn(&child, "/bin/true", NULL, NULL, words, environ) != 0 || waitpid(child, &status, 0) < 0)
		return -1;
	return status == 0 ? 0 : -1;
}

/* Refused or not: only the time counts. */
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

static const struct {
	const char *name;
	int (*call)(void);
} CALLS[] = {
	{ "open", open_and_close },    { "try", try_to_open },      { "link", open_behind_link }, { "missing", open_missing },
	{ "make", make_and_remove },   { "folder", make_folder },   { "mode", change_by_descriptor },
	{ "seek", seek_program },    { "start", start_program },   { "ppid", ask_parent },
	{ "pgid", ask_group },
};

static int (*call_named(const char *name))(void)
{
	for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++)
		if (strcmp(name, CALLS[i].name) == 0)
			return CALLS[i].call;
	return NULL;
}

int main(int argc, char **argv)
{
	long count = argc >= 3 ? atol(argv[2]) : 0;
	int (*call)(void) = argc >= 3 ? call_named(argv[1]) : NULL;
	if (count < MARKS || call == NULL) {
		fputs("usage: calls KIND COUNT [marks]\n", stderr);
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
	repeat(call, count / 5); /* warm-up */
	double from = nanoseconds();
	repeat(call, count);
	printf("%.1f\n", (nanoseconds() - from) / (double)count);
	return 0;
}
