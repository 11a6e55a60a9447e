/*
 * Runs a program and measures wall clock, CPU and memory: of it with all children that it waited for, and of it alone
 * (to separate a supervisor from what it supervises).
 *
 * Usage: measure FILE PROGRAM [ARGUMENT …]
 * Writes "wall_ns cpu_ns peak_kb own_cpu_ns own_peak_kb" to FILE and exits with the program's status.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 50, SKIPPED_FIELDS = 11 };

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

static FILE *proc_file(pid_t pid, const char *name)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return fopen(path, "r");
}

/* Its peak memory so far; 0 after it has ended. */
static long peak_kb(pid_t pid)
{
	char line[256];
	long peak = 0;
	FILE *file = proc_file(pid, "status");
	if (file == NULL)
		return 0;
	while (fgets(line, sizeof line, file) != NULL && sscanf(line, "VmHWM: %ld kB", &peak) != 1)
		;
	fclose(file);
	return peak;
}

/* utime and stime of proc_pid_stat(5): all threads, no children. Also works for a zombie. */
static long long own_cpu(pid_t pid)
{
	char text[1024] = "";
	FILE *file = proc_file(pid, "stat");
	if (file == NULL)
		return 0;
	size_t length = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[length] = '\0';
	char *at = strrchr(text, ')'); /* the name may contain any character */
	if (at == NULL)
		return 0;
	at += 2;
	for (int i = 0; i < SKIPPED_FIELDS && at != NULL; i++) {
		at = strchr(at, ' ');
		at = at == NULL ? NULL : at + 1;
	}
	long long user = 0, kernel = 0;
	if (at == NULL || sscanf(at, "%lld %lld", &user, &kernel) != 2)
		return 0;
	return (user + kernel) * 1000000000LL / sysconf(_SC_CLK_TCK);
}

/* Waits for its end and samples its memory: after the end it can no longer be read. */
static long watch(pid_t pid)
{
	long peak = 0, now;
	struct pollfd ended = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	if (ended.fd < 0)
		return 0;
	do {
		now = peak_kb(pid);
		peak = now > peak ? now : peak;
	} while (poll(&ended, 1, LOOK_MS) == 0);
	close(ended.fd);
	return peak;
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
	if (pid < 0)
		return 1;
	long own_peak = watch(pid);
	long long took = wall() - from, own = own_cpu(pid);
	int status;
	struct rusage used;
	if (wait4(pid, &status, 0, &used) < 0)
		return 1;
	FILE *file = fopen(argv[1], "w");
	if (file == NULL)
		return 1;
	fprintf(file, "%lld %lld %ld %lld %ld\n", took, nanoseconds(used.ru_utime) + nanoseconds(used.ru_stime),
		used.ru_maxrss, own, own_peak);
	fclose(file);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
