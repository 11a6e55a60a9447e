/* See place.h. */
#define _GNU_SOURCE
#include "place.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT = 8192, PATH = 64, MAX_ANCESTORS = 1000 };

/* The whole file with a NUL behind it: its length, or -1, also for one that is too long. */
static ssize_t read_whole(pid_t pid, const char *what, char *into, size_t size)
{
	char path[PATH];
	snprintf(path, sizeof path, "/proc/%d/%s", pid, what);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	size_t length = 0;
	ssize_t got = 0;
	while (length < size && (got = read(fd, into + length, size - length)) > 0)
		length += (size_t)got;
	close(fd);
	if (got < 0 || length >= size)
		return -1;
	into[length] = 0;
	return (ssize_t)length;
}

/* The line that begins with `name`; *size is its length. */
static const char *line_of(const char *text, const char *name, size_t *size)
{
	size_t length = strlen(name);
	for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) == 0) {
			*size = strcspn(line, "\n");
			return line;
		}
		if (*line == 0)
			break;
	}
	return NULL;
}

static int same_lines(const char *one, const char *other, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t size, other_size;
		const char *line = line_of(one, names[i], &size), *other_line = line_of(other, names[i], &other_size);
		if (line == NULL || other_line == NULL || size != other_size || memcmp(line, other_line, size) != 0)
			return 0;
	}
	return 1;
}

static int same_privileges(pid_t one, pid_t other)
{
	static const char *const names[] = { "Uid:", "Gid:", "Groups:", "CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:",
					     "NoNewPrivs:", "Seccomp:", "Seccomp_filters:" };
	char text[TEXT], other_text[TEXT];
	return read_whole(one, "status", text, sizeof text) > 0 && read_whole(other, "status", other_text, sizeof other_text) > 0 &&
	       same_lines(text, other_text, names, sizeof names / sizeof names[0]);
}

static int same_limits(pid_t one, pid_t other)
{
	static const char *const names[] = { "Max cpu time", "Max file size", "Max data size", "Max stack size",
					     "Max core file size", "Max resident set", "Max processes", "Max locked memory",
					     "Max address space" };
	char text[TEXT], other_text[TEXT];
	return read_whole(one, "limits", text, sizeof text) > 0 && read_whole(other, "limits", other_text, sizeof other_text) > 0 &&
	       same_lines(text, other_text, names, sizeof names / sizeof names[0]);
}

static int same_object(pid_t one, pid_t other, const char *what)
{
	char path[PATH], other_path[PATH];
	struct stat info, other_info;
	snprintf(path, sizeof path, "/proc/%d/%s", one, what);
	snprintf(other_path, sizeof other_path, "/proc/%d/%s", other, what);
	return stat(path, &info) == 0 && stat(other_path, &other_info) == 0 && info.st_dev == other_info.st_dev &&
	       info.st_ino == other_info.st_ino;
}

/* Kernels without a security module that has labels have no such text. */
static int same_label(pid_t one, pid_t other)
{
	char text[TEXT] = "", other_text[TEXT] = "";
	ssize_t size = read_whole(one, "attr/current", text, sizeof text);
	ssize_t other_size = read_whole(other, "attr/current", other_text, sizeof other_text);
	return size == other_size && strcmp(text, other_text) == 0;
}

int in_same_place(pid_t one, pid_t other)
{
	static const char *const objects[] = { "ns/user", "ns/mnt",    "ns/pid",  "ns/net", "ns/ipc",
					       "ns/uts",  "ns/cgroup", "ns/time", "root" };
	for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++)
		if (!same_object(one, other, objects[i]))
			return 0;
	return same_privileges(one, other) && same_limits(one, other) && same_label(one, other);
}

/* Of the file, in every process: far from those that a caller has open. */
enum { SIGHT_FD = 500 };

int sight_offer(void)
{
	uint8_t secret[16];
	char name[2 * sizeof secret + 1];
	if (getrandom(secret, sizeof secret, 0) != (ssize_t)sizeof secret)
		return -1;
	for (size_t i = 0; i < sizeof secret; i++)
		snprintf(name + 2 * i, 3, "%02x", secret[i]);
	int fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	int failed = dup3(fd, SIGHT_FD, O_CLOEXEC) < 0;
	close(fd);
	return failed ? -1 : 0;
}

ssize_t sight_of(pid_t pid, char *into, size_t size)
{
	char path[PATH];
	snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, SIGHT_FD);
	ssize_t length = readlink(path, into, size);
	return length > 0 && (size_t)length < size ? length : -1;
}

/* Of /proc/PID/stat: 0 or -1. */
static int read_state(pid_t pid, char *state, pid_t *parent)
{
	char text[TEXT];
	if (read_whole(pid, "stat", text, sizeof text) <= 0)
		return -1;
	const char *end = strrchr(text, ')'); /* the name may hold anything */
	return end != NULL && sscanf(end + 1, " %c %d", state, parent) == 2 ? 0 : -1;
}

int process_is_stopped(pid_t pid)
{
	char state;
	pid_t parent;
	return read_state(pid, &state, &parent) < 0 || state == 'T' || state == 't';
}

static int has_launcher_above(void)
{
	pid_t pid = getppid();
	for (int i = 0; i < MAX_ANCESTORS && pid > 1; i++) {
		char text[TEXT], state;
		if (read_whole(pid, "comm", text, sizeof text) > 0 && strcmp(text, "hermes-launch\n") == 0)
			return 1;
		if (read_state(pid, &state, &pid) < 0)
			return 0;
	}
	return 0;
}

/*
 * A session in a pid namespace of its own does not see its launcher. It always has a filter, and no_new_privs. A container with
 * both looks the same.
 */
int is_supervised(void)
{
	static const char *const names[] = { "Seccomp:\t0", "NoNewPrivs:\t0" };
	char text[TEXT];
	size_t size;
	if (has_launcher_above() || read_whole(getpid(), "status", text, sizeof text) <= 0)
		return 1;
	return line_of(text, names[0], &size) == NULL && line_of(text, names[1], &size) == NULL;
}
