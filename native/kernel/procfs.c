/* See procfs.h. */
#define _GNU_SOURCE
#include "procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { NAME = 64 };

/* Of the process, for all its threads: opened at first use and never closed. */
static int folder = -1, descriptors = -1, for_us_alone;
static const char *own_fd_prefix = "/proc/self/fd/";

int procfs_hold(void)
{
	return procfs_dir() < 0 || own_fds() < 0 ? -errno : 0;
}

int procfs_dir(void)
{
	if (folder < 0)
		folder = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return folder;
}

int procfs_is(int fd)
{
	struct stat info;
	struct statfs where;
	return fstat(fd, &info) == 0 && major(info.st_dev) == 0 && fstatfs(fd, &where) == 0 &&
	       where.f_type == PROC_SUPER_MAGIC;
}

int procfs_contains(int fd)
{
	struct stat held, its;
	return fstat(procfs_dir(), &held) == 0 && fstat(fd, &its) == 0 && held.st_dev == its.st_dev;
}

void procfs_hide_from_program(void)
{
	for_us_alone = 1;
}

int procfs_is_hidden(int fd)
{
	return for_us_alone && procfs_contains(fd);
}

/* Opened once, because resolving /proc/self takes longer than reading the answer. */
int own_fds(void)
{
	if (descriptors < 0)
		descriptors = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return descriptors;
}

void own_fd_paths_are_relative(void)
{
	own_fd_prefix = "";
}

int own_fds_enter(void)
{
	if (own_fd_prefix[0])
		return 0;
	int fd = openat(procfs_dir(), "self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int failed = fd < 0 || fchdir(fd) < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	return failed;
}

const char *own_fd_path(int fd, char *text)
{
	snprintf(text, OWN_FD_PATH, "%s%d", own_fd_prefix, fd);
	return text;
}

static const char *name_of_entry(pid_t tid, const char *what, char *name)
{
	if (tid == 0)
		snprintf(name, NAME, "self/%s", what);
	else
		snprintf(name, NAME, "%d/%s", (int)tid, what);
	return name;
}

int procfs_open(pid_t tid, const char *what, int flags)
{
	char name[NAME];
	return openat(procfs_dir(), name_of_entry(tid, what, name), flags | O_CLOEXEC);
}

int procfs_stat(pid_t tid, const char *what, struct stat *info)
{
	char name[NAME];
	return fstatat(procfs_dir(), name_of_entry(tid, what, name), info, 0);
}

ssize_t procfs_link(pid_t tid, const char *what, char *into, size_t size)
{
	char name[NAME];
	return readlinkat(procfs_dir(), name_of_entry(tid, what, name), into, size);
}

DIR *procfs_list(pid_t tid, const char *what)
{
	int fd = procfs_open(tid, what, O_RDONLY | O_DIRECTORY);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	if (list == NULL && fd >= 0)
		close(fd);
	return list;
}

ssize_t procfs_text(pid_t tid, const char *what, char *into, size_t size)
{
	int fd = procfs_open(tid, what, O_RDONLY);
	if (fd < 0)
		return -errno;
	ssize_t length = read(fd, into, size - 1);
	int failed = length < 0 ? -errno : 0;
	close(fd);
	into[length < 0 ? 0 : length] = 0;
	return failed ? failed : length;
}

const char *procfs_field(const char *text, const char *name)
{
	size_t length = strlen(name);
	for (const char *line = text; line != NULL && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			return line + length + 1;
	return NULL;
}

uint64_t procfs_number(const char *text, const char *name, int base)
{
	const char *value = procfs_field(text, name);
	return value == NULL ? 0 : strtoull(value, NULL, base);
}
