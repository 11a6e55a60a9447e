/* See cwd-cache.h. */
#define _GNU_SOURCE
#include "cwd-cache.h"
#include "../kernel/procfs.h"
#include "../kernel/thread-fs.h"
#include "identity.h"
#include "path.h"

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

static void drop(struct cwd_entry *e)
{
	if (e->tid != 0 && e->pidfd > 0)
		close(e->pidfd);
	if (e->tid != 0 && e->proc > 0)
		close(e->proc);
	if (e->tid != 0 && e->status > 0)
		close(e->status);
	*e = (struct cwd_entry){ 0 };
}

/* Descriptors of a thread stay valid for that thread only: if its id is reused, they fail with ESRCH or ENOENT. */
static struct cwd_entry *entry_of(struct cwd_cache *cache, pid_t tid)
{
	struct cwd_entry *e = &cache->entries[(unsigned)tid % CWD_CACHE_SIZE];
	if (e->tid == tid)
		return e;
	drop(e);
	e->tid = tid;
	return e;
}

static int take_descriptor(struct cwd_entry *e, int fd)
{
	if (e->pidfd == 0)
		e->pidfd = (int)syscall(SYS_pidfd_open, e->tid, PIDFD_THREAD);
	return e->pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, e->pidfd, fd, 0);
}

static int open_in_proc(struct cwd_entry *e, const char *what, int flags)
{
	if (e->proc == 0)
		e->proc = procfs_open(e->tid, "", O_PATH | O_DIRECTORY);
	return e->proc < 0 ? -1 : openat(e->proc, what, flags | O_CLOEXEC);
}

/* ------------------------------------------------------------------ view and rights */

/* Whether the thread that the entry is about still lives. Its id may be another thread's by now. */
static int lives(struct cwd_entry *e)
{
	if (e->pidfd == 0)
		e->pidfd = (int)syscall(SYS_pidfd_open, e->tid, PIDFD_THREAD);
	return e->pidfd > 0 && syscall(SYS_pidfd_send_signal, e->pidfd, 0, NULL, 0) == 0;
}

int cwd_cache_differences(struct cwd_cache *cache, pid_t tid, int wanted)
{
	struct cwd_entry *e = entry_of(cache, tid);
	unsigned int now = atomic_load(&cache->exec_counter->execs);
	int sure = !atomic_load(&cache->exec_counter->unsure);
	if (sure && e->as_of == now && lives(e)) {
		wanted &= ~e->same;
	} else {
		drop(e);
		e->tid = tid;
	}
	int differs = (wanted & DIFFERENT_VIEW && path_views_differ(tid) ? DIFFERENT_VIEW : 0) |
		      (wanted & DIFFERENT_RIGHTS && identity_differs(tid) ? DIFFERENT_RIGHTS : 0);
	if (sure && wanted & ~differs && lives(e)) {
		e->as_of = now;
		e->same |= wanted & ~differs;
	}
	return differs;
}

/*
 * When the new program makes its first call, the count has changed since its process was looked at. If another thread than
 * the leader calls execve, it takes over the leader's id, and the leader's last calls cannot be distinguished from the new
 * program's.
 */
void cwd_cache_before_exec(struct cwd_cache *cache, pid_t tid)
{
	struct identity identity;
	int is_leader = syscall(SYS_tgkill, tid, tid, 0) == 0 || errno == EPERM;
	int failed = is_leader ? 0 : identity_read(tid, &identity);
	if (failed == -ENOENT || failed == -ESRCH)
		return; /* the thread has ended, and its call with it */
	if (failed || (!is_leader && identity.process != tid))
		atomic_store(&cache->exec_counter->unsure, 1);
	cwd_cache_after_exec(cache);
}

void cwd_cache_after_exec(struct cwd_cache *cache)
{
	if (atomic_fetch_add(&cache->exec_counter->execs, 1) == UINT_MAX) /* 0 means never */
		atomic_fetch_add(&cache->exec_counter->execs, 1);
}

/* ------------------------------------------------------------------ cwd and umask */

int cwd_cache_umask(struct cwd_cache *cache, pid_t tid, mode_t *mask)
{
	char text[128]; /* Umask is in the second line */
	for (int again = 0; again < 2; again++) {
		struct cwd_entry *e = entry_of(cache, tid);
		if (e->status == 0)
			e->status = open_in_proc(e, "status", O_RDONLY);
		ssize_t length = e->status < 0 ? -1 : pread(e->status, text, sizeof text - 1, 0);
		if (length > 0) {
			text[length] = 0;
			return identity_umask_in(text, mask);
		}
		drop(e);
	}
	return -ESRCH;
}

int cwd_cache_open_dir(struct cwd_cache *cache, pid_t tid, int dirfd)
{
	for (int again = 0; again < 2; again++) {
		struct cwd_entry *e = entry_of(cache, tid);
		int fd = dirfd == AT_FDCWD ? open_in_proc(e, "cwd", O_PATH) : take_descriptor(e, dirfd);
		if (fd >= 0 || (errno != ESRCH && errno != ENOENT))
			return fd < 0 ? -errno : fd;
		drop(e);
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

/* A thread with its own working directory changes to the folder, asks getcwd, and returns: that is faster. */
ssize_t cwd_cache_name_dir(struct cwd_cache *cache, int folder, char *into, size_t size)
{
	if (!thread_fs_is_own())
		return name_with_end(folder, into, size);
	if (cache->home == 0 && (cache->home = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
		return -errno;
	if (cache->home < 0 || fchdir(folder) < 0)
		return -EACCES;
	ssize_t length = syscall(SYS_getcwd, into, size);
	int failed = length < 0 ? errno : 0;
	if (fchdir(cache->home) < 0)
		abort(); /* every relative path of this thread would mean something else */
	return failed ? -failed : length - 1;
}

void cwd_cache_close(struct cwd_cache *cache)
{
	for (int i = 0; i < CWD_CACHE_SIZE; i++)
		drop(&cache->entries[i]);
	if (cache->home > 0)
		close(cache->home);
}
