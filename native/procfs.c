/* See procfs.h. */
#define _GNU_SOURCE
#include "procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { NAME = 64 };

static int folder = -1, descriptors = -1, for_us_alone;
static const char *own_fd_prefix = "/proc/self/fd/";

int proc_hold(void)
{
	return proc_folder() < 0 || own_fds() < 0 ? -errno : 0;
}

int proc_folder(void)
{
	if (folder < 0)
		folder = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return folder;
}

int proc_is_held(int fd)
{
	struct stat held, its;
	return fstat(proc_folder(), &held) == 0 && fstat(fd, &its) == 0 && held.st_dev == its.st_dev;
}

void proc_is_for_us_alone(void)
{
	for_us_alone = 1;
}

int proc_is_only_ours(int fd)
{
	return for_us_alone && proc_is_held(fd);
}

/* Opened once, because the way through /proc/self takes longer than the answer. */
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
	int fd = openat(proc_folder(), "self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
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

int proc_open(pid_t tid, const char *what, int flags)
{
	char name[NAME];
	return openat(proc_folder(), name_of_entry(tid, what, name), flags | O_CLOEXEC);
}

int proc_stat(pid_t tid, const char *what, struct stat *info)
{
	char name[NAME];
	return fstatat(proc_folder(), name_of_entry(tid, what, name), info, 0);
}

ssize_t proc_link(pid_t tid, const char *what, char *into, size_t size)
{
	char name[NAME];
	return readlinkat(proc_folder(), name_of_entry(tid, what, name), into, size);
}

DIR *proc_list(pid_t tid, const char *what)
{
	int fd = proc_open(tid, what, O_RDONLY | O_DIRECTORY);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	if (list == NULL && fd >= 0)
		close(fd);
	return list;
}

ssize_t proc_text(pid_t tid, const char *what, char *into, size_t size)
{
	int fd = proc_open(tid, what, O_RDONLY);
	if (fd < 0)
		return -errno;
	ssize_t length = read(fd, into, size - 1);
	int failed = length < 0 ? -errno : 0;
	close(fd);
	into[length < 0 ? 0 : length] = 0;
	return failed ? failed : length;
}
