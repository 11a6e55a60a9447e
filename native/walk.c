/*
 * The slow way: every component is opened without following it, so a link is always read by us and never followed on
 * our own account. The view is the tracee's: its root, its directories, its /proc/self.
 */
#define _GNU_SOURCE
#include "path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

enum { MAX_LINKS = 40 };

static void step_to(struct walk *w, int fd)
{
	close(w->here);
	w->here = fd;
}

static int in_proc(int fd)
{
	struct statfs info;
	return fstatfs(fd, &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

static int is_our_proc(int fd)
{
	struct stat ours, its;
	return stat("/proc/self", &ours) == 0 && fstat(fd, &its) == 0 && ours.st_dev == its.st_dev;
}

/* 1 when it is such a link and its text is in `text`, 0 when not, or -errno */
int proc_self(pid_t tid, int link, const char *name, char *text, size_t size)
{
	struct identity identity;
	if ((strcmp(name, "self") != 0 && strcmp(name, "thread-self") != 0) || !in_proc(link))
		return 0;
	if (identity_read(tid, &identity) < 0)
		return -ESRCH;
	int outer = is_our_proc(link), process = outer ? identity.process : identity.inner;
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
	}
	memcpy(w->rest, rest, (size_t)length + 1);
	return 0;
}

static int follow_link(struct walk *w, int link, const char *name)
{
	char text[PATH_MAX];
	if (++w->links > MAX_LINKS)
		return -ELOOP;
	if (in_proc(link)) {
		int self = proc_self(w->tid, link, name, text, sizeof text);
		if (self)
			return self < 0 ? self : splice_link(w, text);
		/* A magic link leads to an object, not to a name: go where the kernel goes. */
		int probe = open_how(w->here, name, 0, RESOLVE_NO_MAGICLINKS);
		if (probe >= 0)
			close(probe);
		else if (errno == ELOOP) {
			/* Everybody may look into its own process, so do not ask as the tracee whether it may. */
			identity_drop();
			int object = openat(w->here, name, O_PATH | O_CLOEXEC);
			int failed = object < 0 ? -errno : 0;
			if (w->as && (failed = identity_assume(w->tid, w->as, 0)) < 0 && object >= 0)
				close(object);
			if (failed)
				return failed;
			step_to(w, object);
			return 0;
		}
	}
	ssize_t length = readlinkat(link, "", text, sizeof text - 1);
	if (length < 0)
		return -errno;
	text[length] = 0;
	return splice_link(w, text);
}

/* Takes the next component off what is left. Returns its length, 0 at the end. */
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

void walk_forget_parent(struct walk *w)
{
	if (w->parent >= 0)
		close(w->parent);
	w->parent = -1;
	w->last[0] = 0;
}

static int keep_parent(struct walk *w, const char *name, int trailing_slash)
{
	walk_forget_parent(w);
	w->parent = fcntl(w->here, F_DUPFD_CLOEXEC, 3);
	snprintf(w->last, sizeof w->last, "%s%s", name, trailing_slash ? "/" : "");
	return w->parent < 0 ? -errno : 0;
}

/* Walks to the end. -ENOENT with a parent: only the last component does not exist. */
int walk_on(struct walk *w, int flags)
{
	char name[NAME_MAX + 1];
	for (;;) {
		size_t length = take_component(w, name);
		if (length == (size_t)-1)
			return -ENAMETOOLONG;
		if (length == 0)
			return 0;
		int last = nothing_follows(w), trailing_slash = w->rest[0] == '/';
		/* A slash at the end asks for a folder; where an entry is made or removed, the kernel judges that itself. */
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
			walk_forget_parent(w); /* what the link leads to has another */
			continue;
		}
		step_to(w, fd);
		if (folder && known && !S_ISDIR(info.st_mode))
			return -ENOTDIR;
	}
}
