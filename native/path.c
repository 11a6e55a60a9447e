/*
 * What a path reaches, seen as the tracee sees it: its root, its directories, its /proc/self. The walk opens
 * every component without following it, so a link is always read by us and never followed on our own account.
 */
#define _GNU_SOURCE
#include "identity.h"
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_LINKS = 40 };

static int open_how(int dirfd, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = flags | O_PATH | O_CLOEXEC, .resolve = resolve };
	return (int)syscall(SYS_openat2, dirfd, path, &how, sizeof how);
}

static int open_proc(pid_t tid, const char *what)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", (int)tid, what);
	return open(path, O_PATH | O_CLOEXEC);
}

/* Opened once, because the way through /proc/self takes longer than the answer. */
int own_fds(void)
{
	static int folder = -1;
	if (folder < 0)
		folder = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return folder;
}

/* The kernel's name for an open file, without the " (deleted)" that it appends to what has no name left. */
static ssize_t name_of(int fd, char *into, size_t size)
{
	static const char GONE[] = " (deleted)";
	char name[16];
	struct stat info;
	snprintf(name, sizeof name, "%d", fd);
	ssize_t length = readlinkat(own_fds(), name, into, size);
	if (length < 0)
		return -errno;
	size_t tail = sizeof GONE - 1;
	if ((size_t)length > tail && memcmp(into + length - tail, GONE, tail) == 0 && fstat(fd, &info) == 0 &&
	    info.st_nlink == 0)
		length -= (ssize_t)tail;
	return length;
}

struct walk {
	pid_t tid;
	const struct identity *as; /* NULL: as ourselves */
	int root;
	int here;
	int parent; /* of what `here` is, once the last component has been taken */
	int links;
	char last[NAME_SIZE];
	char rest[2 * PATH_MAX + 2]; /* what is still to be walked */
};

static int same_file(int a, int b)
{
	struct stat one, two;
	return fstat(a, &one) == 0 && fstat(b, &two) == 0 && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

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

/* The process that a thread belongs to; the thread itself when it is gone. */
static pid_t process_of(pid_t tid)
{
	struct identity identity;
	return identity_read(tid, &identity) < 0 ? tid : identity.process;
}

static int is_our_proc(int fd)
{
	struct stat ours, its;
	return stat("/proc/self", &ours) == 0 && fstat(fd, &its) == 0 && ours.st_dev == its.st_dev;
}

/* /proc/self names whoever asks. We ask, so we must say whom we mean, in the numbers of that /proc. */
static int proc_self(struct walk *w, int link, const char *name, char *text, size_t size)
{
	struct identity identity;
	if (strcmp(name, "self") != 0 && strcmp(name, "thread-self") != 0)
		return 0;
	if (identity_read(w->tid, &identity) < 0)
		return -ESRCH;
	int outer = is_our_proc(link), process = outer ? identity.process : identity.inner;
	int thread = outer ? w->tid : identity.inner_thread;
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
		int self = proc_self(w, link, name, text, sizeof text);
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

/* Walks to the end. -ENOENT with a parent: only the last component does not exist. */
static int walk_on(struct walk *w, int follow_last)
{
	char name[NAME_MAX + 1];
	for (;;) {
		size_t length = take_component(w, name);
		if (length == (size_t)-1)
			return -ENAMETOOLONG;
		if (length == 0)
			return 0;
		int last = nothing_follows(w), trailing_slash = w->rest[0] == '/';
		if (last && keep_parent(w, name, trailing_slash) < 0)
			return -errno;
		if (strcmp(name, "..") == 0 && same_file(w->here, w->root))
			continue;
		int fd = openat(w->here, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		struct stat info;
		int known = fstat(fd, &info) == 0;
		if (known && S_ISLNK(info.st_mode) && (!last || follow_last || trailing_slash)) {
			int failed = follow_link(w, fd, name);
			close(fd);
			if (failed)
				return failed;
			forget_parent(w); /* what the link leads to has another */
			continue;
		}
		step_to(w, fd);
		if (last && trailing_slash && known && !S_ISDIR(info.st_mode))
			return -ENOTDIR;
	}
}

static int open_base(pid_t tid, int dirfd)
{
	char what[32];
	if (dirfd == AT_FDCWD)
		return open_proc(tid, "cwd");
	snprintf(what, sizeof what, "fd/%d", dirfd);
	return open_proc(tid, what);
}

/* Absolute, and without `.`, `..`, empty or trailing components: if it holds no link either, it is its own name. */
static int is_normal(const char *path)
{
	if (path[0] != '/' || path[1] == 0)
		return 0;
	for (const char *at = path; *at == '/';) {
		size_t length = strcspn(++at, "/");
		if (length == 0 || (at[0] == '.' && (length == 1 || (length == 2 && at[1] == '.'))))
			return 0;
		at += length;
	}
	return 1;
}

void pin_release(struct pin *pin)
{
	if (pin->state == PIN_FOUND)
		close(pin->object);
	if ((pin->state == PIN_FOUND || pin->state == PIN_MISSING) && pin->parent >= 0)
		close(pin->parent);
	pin->state = PIN_NONE;
}

static void pin_fail(struct pin *pin, int error)
{
	pin->state = PIN_FAILED;
	pin->error = error;
	pin->object = pin->parent = -1;
}

static ssize_t name_in(int parent, const char *name, char *into, size_t size)
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

/* The whole path in one call, links refused. */
static int pin_object(int base, const char *path, int flags, struct pin *pin)
{
	pin->object = open_how(base, path, flags & RESOLVE_FOLLOW ? 0 : O_NOFOLLOW, RESOLVE_NO_SYMLINKS);
	pin->parent = -1;
	if (pin->object < 0)
		return -errno;
	pin->state = PIN_FOUND;
	return 0;
}

/* The folder in one call, links refused, then the last component in it. */
static int pin_in_parent(int base, const char *path, int flags, struct pin *pin)
{
	char folder[PATH_MAX];
	size_t end = strlen(path), start;
	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/';)
		start--;
	size_t length = end - start;
	if (length == 0 || length > NAME_MAX || strncmp(path + start, "..", length > 2 ? 3 : length) == 0)
		return -ELOOP;
	memcpy(folder, path, start);
	strcpy(folder + start, start == 0 ? "." : "");
	snprintf(pin->name, sizeof pin->name, "%.*s", (int)length, path + start);
	int parent = open_how(base, folder, O_DIRECTORY, RESOLVE_NO_SYMLINKS);
	if (parent < 0)
		return -errno;
	int object = openat(parent, pin->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int error = errno;
	struct stat info;
	if (object >= 0 && (flags & RESOLVE_FOLLOW || path[end] == '/') &&
	    (fstat(object, &info) < 0 || !S_ISDIR(info.st_mode)) &&
	    (path[end] == '/' || S_ISLNK(info.st_mode))) { /* a link, or a slash behind what is no folder */
		close(object);
		close(parent);
		return -ELOOP;
	}
	if (object < 0 && error != ENOENT) {
		close(parent);
		return -error;
	}
	if (path[end] == '/')
		strcat(pin->name, "/");
	pin->object = object;
	pin->parent = parent;
	pin->state = object < 0 ? PIN_MISSING : PIN_FOUND;
	return 0;
}

/*
 * Most paths hold no link: one call or two then settle them, with every `..` taken by the kernel. Only for a tracee
 * that sees the same tree as we do. Returns -ELOOP when the path has to be walked.
 */
static ssize_t resolve_plain(int base, const char *path, int flags, struct pin *pin, char *into, size_t size)
{
	int failed = flags & RESOLVE_PARENT ? pin_in_parent(base, path, flags, pin) : pin_object(base, path, flags, pin);
	/* Without a link on the way, a normal path is its own name, also where it leads nowhere. */
	if (failed && failed != -ELOOP && failed != -EXDEV && failed != -EAGAIN && is_normal(path)) {
		pin_fail(pin, -failed);
		return PATH_AS_ASKED;
	}
	if (failed)
		return -ELOOP;
	if (is_normal(path))
		return PATH_AS_ASKED;
	return pin->state == PIN_FOUND && !(flags & RESOLVE_PARENT) ? name_of(pin->object, into, size)
								    : name_in(pin->parent, pin->name, into, size);
}

/*
 * openat2 with restrictions of its own: the kernel alone knows how to keep to them. It asks as us, so what is ours in
 * /proc is not for the tracee.
 */
static ssize_t resolve_restricted(int base, const char *path, int flags, struct pin *pin, char *into, size_t size)
{
	char folder[PATH_MAX], ours[32];
	uint64_t restrictions = (uint64_t)flags >> RESOLVE_HOW_SHIFT;
	pin->object = open_how(base, path, flags & RESOLVE_FOLLOW ? 0 : O_NOFOLLOW, restrictions);
	if (pin->object >= 0) {
		pin->state = PIN_FOUND;
		ssize_t length = name_of(pin->object, into, size);
		int own = snprintf(ours, sizeof ours, "/proc/%d/", getpid());
		return length > own && memcmp(into, ours, (size_t)own) == 0 ? -EXDEV : length;
	}
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct stat info;
	if (errno != ENOENT || !(flags & RESOLVE_PARENT) || *name == 0 || strlen(name) > NAME_MAX)
		return -errno;
	snprintf(folder, sizeof folder, "%.*s.", (int)(name - path), path);
	strcpy(pin->name, name);
	pin->parent = open_how(base, folder, O_DIRECTORY, restrictions);
	if (pin->parent < 0 || fstatat(pin->parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0)
		return pin->parent < 0 ? -errno : -ENOENT;
	pin->state = PIN_MISSING;
	return name_in(pin->parent, name, into, size);
}

static ssize_t resolve_by_walking(struct walk *w, int flags, struct pin *pin, char *into, size_t size)
{
	int failed = walk_on(w, flags & RESOLVE_FOLLOW);
	if (failed && !(failed == -ENOENT && w->parent >= 0)) {
		pin_fail(pin, -failed);
		return failed;
	}
	pin->state = failed ? PIN_MISSING : PIN_FOUND;
	pin->object = failed ? -1 : w->here;
	pin->parent = w->parent;
	memcpy(pin->name, w->last, sizeof pin->name);
	if (w->parent < 0) { /* the path was "/", or ended in a magic link */
		pin->parent = fcntl(w->here, F_DUPFD_CLOEXEC, 3);
		strcpy(pin->name, ".");
	}
	w->parent = -1;
	if (!failed)
		w->here = -1;
	if (!failed)
		return name_of(pin->object, into, size);
	return name_in(pin->parent, pin->name, into, size);
}

ssize_t path_resolve(pid_t tid, int dirfd, const char *path, int flags, struct pin *pin, char *into, size_t size)
{
	struct identity identity;
	struct walk *w = NULL;
	ssize_t length = -ELOOP;
	int root = -1, base = -1, as = flags & RESOLVE_AS_TRACEE;
	memset(pin, 0, offsetof(struct pin, name));
	pin->object = pin->parent = -1;

	/* First what only we may open, then everything else as the tracee. */
	int from_dirfd = path[0] != '/' || flags & RESOLVE_HOW_IN_ROOT;
	if (from_dirfd && (base = open_base(tid, dirfd)) < 0)
		length = errno == ENOENT && dirfd != AT_FDCWD ? -EBADF : -errno;
	else if (path[0] == 0 || strlen(path) >= PATH_MAX)
		length = path[0] ? -ENAMETOOLONG : -ENOENT;
	else if (as && (length = identity_read(tid, &identity)) == 0 && (length = identity_assume(tid, &identity, 0)) == 0)
		length = -ELOOP;
	if (length == -ELOOP && flags >> RESOLVE_HOW_SHIFT)
		length = flags & RESOLVE_APART ? -EACCES
					       : resolve_restricted(path[0] == '/' && base < 0 ? AT_FDCWD : base, path,
								    flags, pin, into, size);
	else if (length == -ELOOP && !(flags & RESOLVE_APART))
		length = resolve_plain(path[0] == '/' ? AT_FDCWD : base, path, flags, pin, into, size);
	if (length == -ELOOP && !(flags >> RESOLVE_HOW_SHIFT)) {
		identity_drop();
		root = open_proc(tid, "root");
		w = calloc(1, sizeof *w);
		if (root < 0 || w == NULL) {
			length = root < 0 ? -errno : -ENOMEM;
		} else {
			*w = (struct walk){ .tid = tid, .as = as ? &identity : NULL, .root = root, .parent = -1 };
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
	if (length < 0 && pin->state == PIN_NONE)
		pin_fail(pin, (int)-length);
	free(w);
	if (root >= 0)
		close(root);
	if (base >= 0)
		close(base);
	return length;
}

/* Whether paths may lead a tracee elsewhere than us: another root, or another tree of mounts. */
int path_views_differ(pid_t tid)
{
	char path[64];
	struct stat own, its;
	int root = open_proc(tid, "root"), ours = open("/", O_PATH | O_CLOEXEC);
	int differ = root < 0 || ours < 0 || !same_file(root, ours);
	if (root >= 0)
		close(root);
	if (ours >= 0)
		close(ours);
	snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)tid);
	return differ || stat("/proc/self/ns/mnt", &own) < 0 || stat(path, &its) < 0 || own.st_ino != its.st_ino;
}

/* AT_EMPTY_PATH: what a descriptor of the tracee refers to. */
int path_pin_fd(pid_t tid, int fd, struct pin *pin)
{
	memset(pin, 0, offsetof(struct pin, name));
	pin->parent = -1;
	pin->object = open_base(tid, fd);
	if (pin->object < 0)
		pin_fail(pin, errno == ENOENT ? EBADF : errno);
	else
		pin->state = PIN_FOUND;
	return pin->state == PIN_FOUND ? 0 : -pin->error;
}

ssize_t path_of_fd(pid_t tid, int fd, char *into, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)tid, fd);
	ssize_t length = readlink(path, into, size);
	return length < 0 ? -errno : length;
}

int socket_names(pid_t tid, int fd, uint8_t *local, uint32_t *local_size, uint8_t *peer, uint32_t *peer_size)
{
	socklen_t local_length = 128, peer_length = 128;
	int pidfd = (int)syscall(SYS_pidfd_open, process_of(tid), 0);
	if (pidfd < 0)
		return -errno;
	int copy = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	int failed = copy < 0 ? -errno : 0;
	close(pidfd);
	if (failed)
		return failed;
	*local_size = getsockname(copy, (struct sockaddr *)local, &local_length) < 0 ? 0 : local_length;
	*peer_size = getpeername(copy, (struct sockaddr *)peer, &peer_length) < 0 ? 0 : peer_length;
	close(copy);
	return 0;
}
