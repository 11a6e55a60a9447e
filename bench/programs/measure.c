/*
 * Runs a program and says what it took: wall clock, and CPU and memory of it and all that it waited for.
 *
 * Usage: measure FILE PROGRAM [ARGUMENT …]
 * Writes "wall_ns cpu_ns peak_kb" to FILE and exits as the program did.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long wall(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long long nanoseconds(struct timeval time)
{
	return time.tv_sec * 1000000000LL + time.tv_usec * 1000LL;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fputs("usage: measure FILE PROGRAM [ARGUMENT …]\n", stderr);
		return 2;
	}
	long long from = wall();
	pid_t pid = vfork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	int status;
	struct rusage used;
	if (pid < 0 || wait4(pid, &status, 0, &used) < 0)
		return 1;
	long long took = wall() - from;
	FILE *file = fopen(argv[1], "w");
	if (file == NULL)
		return 1;
	fprintf(file, "%lld %lld %ld\n", took, nanoseconds(used.ru_utime) + nanoseconds(used.ru_stime), used.ru_maxrss);
	fclose(file);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
