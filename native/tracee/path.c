/* Resolves a path in a tracee's view, holds what it reaches open, and finds its canonical name. */
#define _GNU_SOURCE
#include "path.h"
#include "../kernel/procfs.h"
#include "fd-copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int open_proc(pid_t tid, const char *what)
{
	return procfs_open(tid, what, O_PATH);
}

ssize_t raw_name_of(int fd, char *into, size_t size)
{
	char name[16];
	snprintf(name, sizeof name, "%d", fd);
	ssize_t length = readlinkat(own_fds(), name, into, size);
	return length < 0 ? -errno : length;
}

/* The kernel's name for an open file, without the " (deleted)" that it appends for a removed file. */
ssize_t name_of(int fd, char *into, size_t size)
{
	static const char GONE[] = " (deleted)";
	struct stat info;
	ssize_t length = raw_name_of(fd, into, size);
	if (length < 0)
		return length;
	size_t tail = sizeof GONE - 1;
	if ((size_t)length > tail && memcmp(into + length - tail, GONE, tail) == 0 && fstat(fd, &info) == 0 &&
	    info.st_nlink == 0)
		length -= (ssize_t)tail;
	return length;
}

int same_file(int a, int b)
{
	struct stat one, two;
	return fstat(a, &one) == 0 && fstat(b, &two) == 0 && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

ssize_t name_in(int parent, const char *name, char *into, size_t size)
{
	ssize_t length = name_of(parent, into, size);
	size_t last = strcspn(name, "/");
	if (length < 0)
		return length;
	if (length == 1 && into[0] == '/')
		length = 0;
	if ((size_t)length + 1 + last >= size)
		return -ENAMETOOLONG;
	into[length] = '/';
	memcpy(into + length + 1, name, last);
	return length + 1 + (ssize_t)last;
}

static int open_base(pid_t tid, int dirfd)
{
	char what[32];
	if (dirfd == AT_FDCWD)
		return open_proc(tid, "cwd");
	snprintf(what, sizeof what, "fd/%d", dirfd);
	return open_proc(tid, what);
}

/*
 * A file of another process without a name of its own could be any file: its name begins with a prefix that src/nouns/event.ts
 * knows.
 */
static ssize_t name_nameless(int fd, char *into, size_t size)
{
	static const char WORD[] = "nameless:";
	size_t word = sizeof WORD - 1;
	if (size <= word)
		return -ENAMETOOLONG;
	memcpy(into, WORD, word);
	ssize_t length = raw_name_of(fd, into + word, size - word);
	return length < 0 ? length : length + (ssize_t)word;
}

static ssize_t resolve_by_walking(struct walk *w, int flags, struct pin *pin, char *into, size_t size)
{
	int failed = walk_on(w, flags);
	if (failed && !(failed == -ENOENT && w->parent >= 0)) {
		pin_fail(pin, -failed);
		return failed;
	}
	pin->state = failed ? PIN_MISSING : PIN_FOUND;
	pin->object = failed ? -1 : w->here;
	pin->error = failed ? 0 : walk_refuses(w);
	pin->parent = w->parent;
	memcpy(pin->name, w->last, sizeof pin->name);
	if (w->parent < 0) { /* the path was "/", or ended in a magic link */
		pin->parent = fcntl(w->here, F_DUPFD_CLOEXEC, 3);
		strcpy(pin->name, "/");
	}
	w->parent = -1;
	if (!failed)
		w->here = -1;
	if (!failed)
		return w->nameless ? name_nameless(pin->object, into, size) : name_of(pin->object, into, size);
	return w->nameless ? name_nameless(pin->parent, into, size) : name_in(pin->parent, pin->name, into, size);
}

ssize_t path_resolve(pid_t tid, int dirfd, const char *path, int flags, struct pin *pin, char *into, size_t size)
{
	struct identity identity;
	struct walk *w = NULL;
	ssize_t length = -ELOOP;
	int root = -1, base = -1, as = flags & RESOLVE_AS_TRACEE;
	const struct proc_reader reader = { tid, as ? &identity : NULL };
	memset(pin, 0, offsetof(struct pin, name) + 1);
	pin->object = pin->parent = -1;

	/* First open what only we may open, then everything else as the tracee. */
	int from_dirfd = path[0] != '/' || flags & RESOLVE_HOW_IN_ROOT, elsewhere = 0;
	int named = path[0] != 0 && strlen(path) < PATH_MAX;
	if (named && from_dirfd && (base = open_base(tid, dirfd)) >= 0)
		elsewhere = !walk_is_in_view(tid, base);
	if (!named)
		length = path[0] ? -ENAMETOOLONG : -ENOENT;
	else if (from_dirfd && base < 0)
		length = errno == ENOENT && dirfd != AT_FDCWD ? -EBADF : -errno;
	else if (as && (length = identity_read(tid, &identity)) == 0 && (length = identity_assume(tid, &identity, 0)) == 0)
		length = -ELOOP;
	if (length == -ELOOP && flags >> RESOLVE_HOW_SHIFT)
		length = flags & RESOLVE_OTHER_ROOT ? -EACCES
					       : pin_restricted(path[0] == '/' && base < 0 ? AT_FDCWD : base, path,
								flags, pin, into, size, &reader);
	else if (length == -ELOOP && !(flags & RESOLVE_OTHER_ROOT) && !elsewhere)
		length = pin_plain(path[0] == '/' ? AT_FDCWD : base, path, flags, pin, into, size);
	/* Only a walk checks who may open a file in /proc. */
	if (length != -ELOOP && !(flags >> RESOLVE_HOW_SHIFT) && pin->state == PIN_FOUND && procfs_is(pin->object)) {
		pin_release(pin);
		length = -ELOOP;
	}
	if (length == -ELOOP && !(flags >> RESOLVE_HOW_SHIFT)) {
		identity_drop();
		root = open_proc(tid, "root");
		w = calloc(1, sizeof *w);
		if (root < 0 || w == NULL) {
			length = root < 0 ? -errno : -ENOMEM;
		} else {
			*w = (struct walk){ .reader = reader, .root = root, .parent = -1,
					   .nameless = elsewhere ? ALL_NAMELESS : 0 };
			strcpy(w->rest, path);
			w->here = path[0] == '/' ? fcntl(root, F_DUPFD_CLOEXEC, 3) : base;
			base = path[0] == '/' ? base : -1;
			int failed = as ? identity_assume(tid, &identity, 0) : 0;
			length = failed ? failed : resolve_by_walking(w, flags, pin, into, size);
			if (w->here >= 0)
				close(w->here);
			if (w->parent >= 0)
				close(w->parent);
		}
	}
	identity_drop();
	if (elsewhere && flags >> RESOLVE_HOW_SHIFT && length >= 0)
		length = name_nameless(pin->state == PIN_FOUND ? pin->object : pin->parent, into, size);
	if (length < 0 && pin->state == PIN_NONE)
		pin_fail(pin, (int)-length);
	pin_note_device(pin);
	free(w);
	if (root >= 0)
		close(root);
	if (base >= 0)
		close(base);
	return length;
}

int path_views_differ(pid_t tid)
{
	struct stat own, its;
	int root = open_proc(tid, "root"), ours = open("/", O_PATH | O_CLOEXEC);
	int differ = root < 0 || ours < 0 || !same_file(root, ours);
	if (root >= 0)
		close(root);
	if (ours >= 0)
		close(ours);
	return differ || procfs_stat(0, "ns/mnt", &own) < 0 || procfs_stat(tid, "ns/mnt", &its) < 0 || own.st_ino != its.st_ino;
}

/* Pins the descriptor itself, or the working directory: its number may refer to another file a moment later. */
ssize_t path_pin_fd(pid_t tid, int fd, struct pin *pin, char *into, size_t size)
{
	int object = fd == AT_FDCWD ? open_proc(tid, "cwd") : copy_tracee_fd(tid, fd);
	if (object < 0) {
		pin_fail(pin, fd == AT_FDCWD ? errno : -object);
		return -pin->error;
	}
	pin_hold(pin, object);
	struct stat info;
	ssize_t length = raw_name_of(object, into, size);
	int named = length > 0 && into[0] == '/' && fstat(object, &info) == 0 && info.st_nlink > 0; /* memfds have no name */
	return named && !walk_is_in_view(tid, object) ? name_nameless(object, into, size) : length;
}

ssize_t path_of_fd(pid_t tid, int fd, char *into, size_t size)
{
	char what[32];
	snprintf(what, sizeof what, "fd/%d", fd);
	ssize_t length = procfs_link(tid, what, into, size);
	return length < 0 ? -errno : length;
}
