/*
 * pidfd_send_signal on behalf: the process behind the descriptor that was decided on gets the signal, whatever has its
 * number by now. Whom a descriptor stands for is found out here too.
 */
#define _GNU_SOURCE
#include "act.h"
#include "identity.h"
#include "path.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum { PROC_ROOT = 1 }; /* the inode of every /proc */

static long number_in(int folder, const char *file, const char *name)
{
	char text[4096];
	int fd = openat(folder, file, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[length < 0 ? 0 : length] = 0;
	for (char *line = text; line != NULL && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (strncmp(line, name, strlen(name)) == 0)
			return strtol(line + strlen(name), NULL, 10);
	return -ENOENT;
}

/* Another /proc may be of another pid namespace. Our own number in it, 0 when we are not in that namespace. */
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
		return 0; /* the process has ended, for good */
	long own = -EXDEV; /* mounted somewhere else: nobody knows */
	if (proc >= 0 && fstat(proc, &above) == 0 && above.st_ino == PROC_ROOT && above.st_dev == folder->st_dev)
		own = own_number_in(proc);
	if (proc >= 0)
		close(proc);
	if (own == 0)
		return -ENXIO;
	return own == getpid() ? number_in(fd, "status", "Tgid:") : -EXDEV;
}

/* fdinfo has the number of the process, or thread, that a pidfd is of; a folder of /proc serves as one. */
long process_behind(int fd)
{
	char name[32];
	struct stat info;
	struct statfs system;
	snprintf(name, sizeof name, "../fdinfo/%d", fd);
	long number = number_in(own_fds(), name, "Pid:");
	if (number != -ENOENT)
		return number < 0 ? 0 : number; /* -1: it has ended */
	if (fstat(fd, &info) < 0 || fstatfs(fd, &system) < 0)
		return -errno;
	return system.f_type == PROC_SUPER_MAGIC && S_ISDIR(info.st_mode) ? behind_folder(fd, &info) : 0;
}

/*
 * The program is the sender, by what the receiver is told: only the code differs (SI_QUEUE), since the kernel lets nobody
 * say SI_USER for another. Whether it may, the kernel judges by the ids and capabilities that we have taken on.
 */
int64_t act_on_process(const struct act *act)
{
	struct identity caller;
	siginfo_t info;
	int number = (int)act->args[1];
	int64_t failed = identity_read(act->tid, &caller);
	memset(&info, 0, sizeof info);
	if (failed)
		return failed;
	if (act->args[2] == 0) {
		info.si_signo = number;
		info.si_code = SI_QUEUE;
		info.si_pid = caller.inner;
		info.si_uid = caller.real_uid;
	} else if (act_take(act, act->args[2], &info, sizeof info) < 0) {
		return -EFAULT;
	}
	if ((failed = identity_show()) < 0)
		return failed;
	int64_t result = act_result(syscall(SYS_pidfd_send_signal, act->pins[0].object, number, &info, (unsigned int)act->args[3]));
	return identity_hide() < 0 ? -EPERM : result;
}
