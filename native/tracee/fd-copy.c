/* See fd-copy.h. */
#define _GNU_SOURCE
#include "fd-copy.h"
#include "../kernel/procfs.h"
#include "identity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { THREAD_PIDFD = O_EXCL /* PIDFD_THREAD, Linux 6.9 */ };

int copy_tracee_fd(pid_t tid, int fd)
{
	struct identity identity;
	identity_pause();
	int pidfd = (int)syscall(SYS_pidfd_open, tid, THREAD_PIDFD); /* else the whole process */
	if (pidfd < 0 && identity_read(tid, &identity) == 0)
		pidfd = (int)syscall(SYS_pidfd_open, identity.process, 0);
	int copy = pidfd < 0 ? -errno : (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	if (pidfd >= 0 && copy < 0)
		copy = -errno;
	if (pidfd >= 0)
		close(pidfd);
	int failed = identity_resume();
	if (failed && copy >= 0)
		close(copy);
	return failed ? failed : copy;
}

int socket_names(pid_t tid, int fd, uint8_t *local, uint32_t *local_size, uint8_t *peer, uint32_t *peer_size)
{
	socklen_t local_length = 128, peer_length = 128;
	int copy = copy_tracee_fd(tid, fd);
	if (copy < 0)
		return copy;
	*local_size = getsockname(copy, (struct sockaddr *)local, &local_length) < 0 ? 0 : local_length;
	*peer_size = getpeername(copy, (struct sockaddr *)peer, &peer_length) < 0 ? 0 : peer_length;
	close(copy);
	return 0;
}

/* ------------------------------------------------------------------ the process behind a descriptor */

enum { PROC_ROOT = 1 }; /* the inode of every /proc */

static long number_in(int folder, const char *file, const char *name)
{
	char text[4096];
	int fd = openat(folder, file, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[length < 0 ? 0 : length] = 0;
	const char *value = procfs_field(text, name);
	return value == NULL ? -ENOENT : strtol(value, NULL, 10);
}

/* Our own pid in another /proc, which may belong to another pid namespace. 0: we are not in that namespace. */
static long own_number_in(int proc)
{
	char text[16];
	ssize_t length = readlinkat(proc, "self", text, sizeof text - 1);
	if (length < 0)
		return errno == ENOENT ? 0 : -errno;
	text[length] = 0;
	return strtol(text, NULL, 10);
}

static long behind_folder(int fd, const struct stat *folder)
{
	struct stat above;
	int proc = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0 && errno == ESRCH)
		return 0; /* the process has ended */
	long own = -EXDEV; /* a /proc that is mounted elsewhere: unknown */
	if (proc >= 0 && fstat(proc, &above) == 0 && above.st_ino == PROC_ROOT && above.st_dev == folder->st_dev)
		own = own_number_in(proc);
	if (proc >= 0)
		close(proc);
	if (own == 0)
		return -ENXIO;
	return own == getpid() ? number_in(fd, "status", "Tgid") : -EXDEV;
}

/* fdinfo has the pid of a pidfd's process or thread. A process's folder in /proc serves as a pidfd too. */
long process_of_fd(int fd)
{
	char name[32];
	struct stat info;
	struct statfs system;
	snprintf(name, sizeof name, "../fdinfo/%d", fd);
	long number = number_in(own_fds(), name, "Pid");
	if (number != -ENOENT)
		return number < 0 ? 0 : number; /* -1: it has ended */
	if (fstat(fd, &info) < 0 || fstatfs(fd, &system) < 0)
		return -errno;
	return system.f_type == PROC_SUPER_MAGIC && S_ISDIR(info.st_mode) ? behind_folder(fd, &info) : 0;
}
