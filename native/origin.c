/* Where a tracee is: the folder that a relative path starts from, its name, the umask. What is asked often is held open. */
#define _GNU_SOURCE
#include "origin.h"
#include "identity.h"
#include "path.h"
#include "standin.h"
#include "procfs.h"

#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef PIDFD_THREAD /* Linux 6.9; older headers lack it */
#define PIDFD_THREAD O_EXCL
#endif

/* What is held open of one thread stays its own: when the number is another's, it says ESRCH or ENOENT. */
static struct origin *origin_of(struct origins *all, pid_t tid)
{
	struct origin *o = &all->held[(unsigned)tid % ORIGINS];
	if (o->tid == tid)
		return o;
	origin_forget(o);
	o->tid = tid;
	return o;
}

void origin_forget(struct origin *o)
{
	if (o->tid != 0 && o->pidfd > 0)
		close(o->pidfd);
	if (o->tid != 0 && o->proc > 0)
		close(o->proc);
	if (o->tid != 0 && o->status > 0)
		close(o->status);
	*o = (struct origin){ 0 };
}

static int take_descriptor(struct origin *o, int fd)
{
	if (o->pidfd == 0)
		o->pidfd = (int)syscall(SYS_pidfd_open, o->tid, PIDFD_THREAD);
	return o->pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, o->pidfd, fd, 0);
}

static int open_in_proc(struct origin *o, const char *what, int flags)
{
	if (o->proc == 0)
		o->proc = proc_open(o->tid, "", O_PATH | O_DIRECTORY);
	return o->proc < 0 ? -1 : openat(o->proc, what, flags | O_CLOEXEC);
}

/* ------------------------------------------------------------------ who it is */

/* The thread that we know by this number, and not another that has it by now. */
static int lives(struct origin *o)
{
	if (o->pidfd == 0)
		o->pidfd = (int)syscall(SYS_pidfd_open, o->tid, PIDFD_THREAD);
	return o->pidfd > 0 && syscall(SYS_pidfd_send_signal, o->pidfd, 0, NULL, 0) == 0;
}

int origin_sight(struct origins *all, pid_t tid, int wanted)
{
	struct origin *o = origin_of(all, tid);
	unsigned int now = atomic_load(&all->programs->execs);
	int sure = !atomic_load(&all->programs->unsure);
	if (sure && o->as_of == now && lives(o)) {
		wanted &= ~o->same;
	} else {
		origin_forget(o);
		o->tid = tid;
	}
	int differs = (wanted & SIGHT_APART && path_views_differ(tid) ? SIGHT_APART : 0) |
		      (wanted & SIGHT_STRANGER && identity_differs(tid) ? SIGHT_STRANGER : 0);
	if (sure && wanted & ~differs && lives(o)) {
		o->as_of = now;
		o->same |= wanted & ~differs;
	}
	return differs;
}

/*
 * When the new program makes its first call, the generation has ended in which its process was looked at. One that another
 * thread than the first starts takes the first one's number, whose own last calls look like those of the new program.
 */
void origin_execs(struct origins *all, pid_t tid)
{
	struct identity identity;
	int failed = identity_read(tid, &identity);
	if (failed == -ENOENT || failed == -ESRCH)
		return; /* it is gone, and so is its call */
	if (failed || identity.process != tid)
		atomic_store(&all->programs->unsure, 1);
	origin_execed(all);
}

void origin_execed(struct origins *all)
{
	if (atomic_fetch_add(&all->programs->execs, 1) == UINT_MAX) /* 0 means never */
		atomic_fetch_add(&all->programs->execs, 1);
}

/* ------------------------------------------------------------------ where it is */

int origin_umask(struct origins *all, pid_t tid, mode_t *mask)
{
	char text[128]; /* it is in the second line */
	for (int again = 0; again < 2; again++) {
		struct origin *o = origin_of(all, tid);
		if (o->status == 0)
			o->status = open_in_proc(o, "status", O_RDONLY);
		ssize_t length = o->status < 0 ? -1 : pread(o->status, text, sizeof text - 1, 0);
		if (length > 0) {
			text[length] = 0;
			return identity_umask_in(text, mask);
		}
		origin_forget(o);
	}
	return -ESRCH;
}

int origin_open(struct origins *all, pid_t tid, int dirfd)
{
	for (int again = 0; again < 2; again++) {
		struct origin *o = origin_of(all, tid);
		int fd = dirfd == AT_FDCWD ? open_in_proc(o, "cwd", O_PATH) : take_descriptor(o, dirfd);
		if (fd >= 0 || (errno != ESRCH && errno != ENOENT))
			return fd < 0 ? -errno : fd;
		origin_forget(o);
	}
	return -errno;
}

static ssize_t name_with_end(int folder, char *into, size_t size)
{
	struct stat info;
	ssize_t length = fstat(folder, &info) < 0 || info.st_nlink == 0 ? -ENOENT : name_of(folder, into, size - 1);
	if (length >= 0)
		into[length] = 0;
	return length;
}

/* With a working directory of its own this thread goes there, asks where it is, and comes back: that is quicker. */
ssize_t origin_name(struct origins *all, int folder, char *into, size_t size)
{
	if (!view_is_own())
		return name_with_end(folder, into, size);
	if (all->home == 0 && (all->home = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
		return -errno;
	if (all->home < 0 || fchdir(folder) < 0)
		return -EACCES;
	ssize_t length = syscall(SYS_getcwd, into, size);
	int failed = length < 0 ? errno : 0;
	if (fchdir(all->home) < 0)
		abort(); /* or every relative path of this thread would mean something else */
	return failed ? -failed : length - 1;
}

void origin_close(struct origins *all)
{
	for (int i = 0; i < ORIGINS; i++)
		origin_forget(&all->held[i]);
	if (all->home > 0)
		close(all->home);
}
