/*
 * Walking a path, component by component. Each is opened without following it, so we read every link ourselves and the
 * kernel follows none with our rights. The view is the tracee's: its root, its directories, its /proc/self.
 */
#define _GNU_SOURCE
#include "path.h"
#include "../kernel/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINKS = 40, MOUNTS = 16 };

#ifndef STATX_MNT_ID_UNIQUE /* Linux 6.8; older headers lack it */
#define STATX_MNT_ID_UNIQUE 0x4000U
#endif

static void step_to(struct walk *w, int fd)
{
	close(w->here);
	w->here = fd;
}

int proc_self_target(pid_t tid, int link, const char *name, char *text, size_t size)
{
	struct identity identity;
	if ((strcmp(name, "self") != 0 && strcmp(name, "thread-self") != 0) || !procfs_is(link))
		return 0;
	if (identity_read(tid, &identity) < 0)
		return -ESRCH;
	int outer = procfs_contains(link), process = outer ? identity.process : identity.inner;
	int thread = outer ? tid : identity.inner_thread;
	if (name[0] == 's')
		snprintf(text, size, "%d", process);
	else
		snprintf(text, size, "%d/task/%d", process, thread);
	return 1;
}

/* Puts a link's text in front of what is still to be walked. */
static int splice_link(struct walk *w, const char *text)
{
	char rest[sizeof w->rest];
	int length = snprintf(rest, sizeof rest, "%s%s", text, w->rest);
	if (length < 0 || (size_t)length >= sizeof rest)
		return -ENAMETOOLONG;
	if (text[0] == '/') {
		int root = fcntl(w->root, F_DUPFD_CLOEXEC, 3);
		if (root < 0)
			return -errno;
		step_to(w, root);
		w->nameless = 0;
	}
	memcpy(w->rest, rest, (size_t)length + 1);
	return 0;
}

/* Pipes, sockets, memfds and removed files. */
static int has_no_name(int fd)
{
	char name[PATH_MAX];
	struct stat info;
	ssize_t length = raw_name_of(fd, name, sizeof name);
	return length <= 0 || name[0] != '/' || (length > 7 && memcmp(name, "/memfd:", 7) == 0) || fstat(fd, &info) < 0 ||
	       info.st_nlink == 0;
}

static int has_mount(pid_t pid, uint64_t id)
{
	char *line = NULL;
	size_t size = 0;
	int found = 0, fd = procfs_open(pid, "mountinfo", O_RDONLY);
	FILE *mounts = fd < 0 ? NULL : fdopen(fd, "r");
	if (mounts == NULL && fd >= 0)
		close(fd);
	while (mounts != NULL && !found && getline(&line, &size, mounts) > 0)
		found = strtoull(line, NULL, 10) == id;
	if (mounts != NULL)
		fclose(mounts);
	free(line);
	return found;
}

/*
 * Whether this process has the mount, by ids that the kernel never reuses. A tracee that we act for has the same mounts,
 * unless RESOLVE_OTHER_ROOT is set.
 */
static int is_our_mount(int fd)
{
	static __thread struct {
		uint64_t id[MOUNTS];
		unsigned int next;
	} ours;
	struct statx info;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID_UNIQUE, &info) < 0 || !(info.stx_mask & STATX_MNT_ID_UNIQUE))
		return 0;
	for (int i = 0; i < MOUNTS; i++)
		if (ours.id[i] == info.stx_mnt_id)
			return 1;
	uint64_t id = info.stx_mnt_id;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &info) < 0 || !has_mount(getpid(), info.stx_mnt_id))
		return 0;
	ours.id[ours.next++ % MOUNTS] = id;
	return 1;
}

int walk_is_in_view(pid_t tid, int fd)
{
	struct statx info;
	identity_pause();
	int seen = is_our_mount(fd);
	if (!seen && statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &info) == 0 && info.stx_mask & STATX_MNT_ID)
		seen = has_mount(tid, info.stx_mnt_id) || has_mount(proc_access_supervisor(), info.stx_mnt_id);
	return identity_resume() == 0 && seen;
}

/*
 * A magic link leads to an object, not to a name: open it as the kernel does. The tracee may always read its own process;
 * another process's links are opened with the tracee's identity.
 */
static int follow_magic_link(struct walk *w, const char *name, int owner)
{
	if (owner == PROC_OWN)
		identity_pause();
	int object = openat(w->here, name, O_PATH | O_CLOEXEC), failed = object < 0 ? -errno : 0;
	int lost = owner == PROC_OWN ? identity_resume() : 0;
	if (lost && object >= 0)
		close(object);
	if (lost || failed)
		return lost ? lost : failed;
	step_to(w, object);
	if (owner == PROC_OTHER && !walk_is_in_view(w->reader.tid, object))
		w->nameless = ALL_NAMELESS;
	else if (w->nameless != ALL_NAMELESS || owner == PROC_OWN)
		w->nameless = owner == PROC_OTHER && has_no_name(object) ? NAMELESS : 0;
	return 0;
}

static int follow_link(struct walk *w, int link, const char *name)
{
	char text[PATH_MAX];
	if (++w->links > MAX_LINKS)
		return -ELOOP;
	if (procfs_is(link)) {
		int self = proc_self_target(w->reader.tid, link, name, text, sizeof text);
		if (self)
			return self < 0 ? self : splice_link(w, text);
		int owner = proc_access_check(&w->reader, w->here, name, 1);
		if (owner != PROC_PUBLIC)
			return owner < 0 ? owner : follow_magic_link(w, name, owner);
	}
	ssize_t length = readlinkat(link, "", text, sizeof text - 1);
	if (length < 0)
		return -errno;
	text[length] = 0;
	return splice_link(w, text);
}

/* Takes the next component off the rest. Returns its length, 0 at the end. */
static size_t take_component(struct walk *w, char *name)
{
	char *start = w->rest;
	while (*start == '/')
		start++;
	size_t length = strcspn(start, "/");
	if (length > NAME_MAX)
		return (size_t)-1;
	memcpy(name, start, length);
	name[length] = 0;
	memmove(w->rest, start + length, strlen(start + length) + 1);
	return length;
}

static int nothing_follows(const struct walk *w)
{
	return w->rest[strspn(w->rest, "/")] == 0;
}

static void forget_parent(struct walk *w)
{
	if (w->parent >= 0)
		close(w->parent);
	w->parent = -1;
	w->last[0] = 0;
}

static int keep_parent(struct walk *w, const char *name, int trailing_slash)
{
	forget_parent(w);
	w->parent = fcntl(w->here, F_DUPFD_CLOEXEC, 3);
	snprintf(w->last, sizeof w->last, "%s%s", name, trailing_slash ? "/" : "");
	return w->parent < 0 ? -errno : 0;
}

/*
 * Checks a file in /proc that was reached by a magic link. The file at its name, in the tracee's view or in ours, must be
 * the same file.
 */
static int refuses_by_name(const struct walk *w)
{
	char path[PATH_MAX];
	ssize_t length = name_of(w->here, path, sizeof path - 1);
	path[length > 0 ? length : 0] = 0;
	char *last = strrchr(path, '/');
	if (last == NULL || last == path)
		return EACCES;
	*last++ = 0;
	int owner = -EACCES;
	for (int i = 0; i < 2 && owner < 0; i++) {
		int folder = open_how(i ? AT_FDCWD : w->root, i ? path : path + 1, O_DIRECTORY, RESOLVE_NO_SYMLINKS);
		int entry = folder < 0 ? -1 : openat(folder, last, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (entry >= 0 && same_file(entry, w->here))
			owner = proc_access_check(&w->reader, folder, last, 0);
		if (entry >= 0)
			close(entry);
		if (folder >= 0)
			close(folder);
	}
	return owner < 0 ? EACCES : 0;
}

int walk_refuses(const struct walk *w)
{
	char name[NAME_SIZE];
	struct stat info;
	if (!procfs_is(w->here))
		return 0;
	if (w->parent < 0 || !procfs_is(w->parent))
		return same_file(w->here, w->root) || fstat(w->here, &info) < 0 || info.st_ino == 1 ? 0 : refuses_by_name(w);
	snprintf(name, sizeof name, "%.*s", (int)strcspn(w->last, "/"), w->last);
	int is_link = fstat(w->here, &info) == 0 && S_ISLNK(info.st_mode);
	return proc_access_check(&w->reader, w->parent, name, is_link) < 0 ? EACCES : 0;
}

/* The error for a component that no folder can have: where this is no folder, or may not be searched, that comes first. */
static int too_long(int folder)
{
	char name[NAME_MAX + 2];
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = 0;
	int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return -ENAMETOOLONG;
}

int walk_on(struct walk *w, int flags)
{
	char name[NAME_MAX + 1];
	for (;;) {
		size_t length = take_component(w, name);
		if (length == (size_t)-1)
			return too_long(w->here);
		if (length == 0)
			return 0;
		int last = nothing_follows(w), trailing_slash = w->rest[0] == '/';
		/*
		 * A slash at the end asks for a folder. Where an entry is created or removed, the kernel checks that
		 * itself.
		 */
		int folder = last && trailing_slash && !(flags & RESOLVE_PARENT);
		if (last && keep_parent(w, name, trailing_slash) < 0)
			return -errno;
		if (strcmp(name, "..") == 0 && same_file(w->here, w->root))
			continue;
		int fd = openat(w->here, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		struct stat info;
		int known = fstat(fd, &info) == 0;
		if (known && S_ISLNK(info.st_mode) && (!last || flags & RESOLVE_FOLLOW || folder)) {
			int failed = follow_link(w, fd, name);
			close(fd);
			if (failed)
				return failed;
			forget_parent(w); /* the link's target has another parent */
			continue;
		}
		if (!last && procfs_is(w->here) && proc_access_check(&w->reader, w->here, name, 0) < 0) {
			close(fd);
			return -EACCES;
		}
		step_to(w, fd);
		if (w->nameless == NAMELESS)
			w->nameless = 0;
		if (folder && known && !S_ISDIR(info.st_mode))
			return -ENOTDIR;
	}
}
