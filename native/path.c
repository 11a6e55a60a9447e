/*
 * What a path reaches, seen as the tracee sees it: its root, its directories, its /proc/self. The walk opens
 * every component without following it, so a link is always read by us and never followed on our own account.
 */
#define _GNU_SOURCE
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
static int own_fds(void)
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
	int root;
	int here;
	int links;
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
	char line[256];
	int tgid = tid;
	snprintf(line, sizeof line, "/proc/%d/status", (int)tid);
	FILE *status = fopen(line, "re");
	if (status == NULL)
		return tid;
	while (fgets(line, sizeof line, status) != NULL)
		if (sscanf(line, "Tgid: %d", &tgid) == 1)
			break;
	fclose(status);
	return tgid;
}

/* The numbers that a process has in each pid namespace, outermost first, as this /proc tells them. 0 when gone. */
static int read_numbers(int proc, int pid, char *into, size_t size)
{
	char line[512];
	snprintf(line, sizeof line, "%d/status", pid);
	int fd = openat(proc, line, O_RDONLY | O_CLOEXEC), found = 0;
	FILE *status = fd < 0 ? NULL : fdopen(fd, "r");
	if (status == NULL && fd >= 0)
		close(fd);
	while (status != NULL && !found && fgets(line, sizeof line, status) != NULL)
		if (strncmp(line, "NSpid:\t", 7) == 0)
			found = snprintf(into, size, "%s", line + 7) < (int)size;
	if (status != NULL)
		fclose(status);
	return found;
}

/* What a process is called in the /proc that is being walked, which may be that of an inner pid namespace. */
static int number_there(struct walk *w, pid_t pid)
{
	char ours[256], theirs[256];
	int own = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC), number = pid;
	const char *at = own >= 0 && read_numbers(own, pid, ours, sizeof ours) ? ours : NULL;
	for (; at != NULL && *at; at = strchr(at, '\t') ? strchr(at, '\t') + 1 : NULL)
		if (read_numbers(w->here, atoi(at), theirs, sizeof theirs) && strcmp(at, theirs) == 0) {
			number = atoi(at);
			break;
		}
	if (own >= 0)
		close(own);
	return number;
}

/* /proc/self names whoever asks. We ask, so we must say whom we mean. */
static int proc_self(struct walk *w, const char *name, char *text, size_t size)
{
	if (strcmp(name, "self") != 0 && strcmp(name, "thread-self") != 0)
		return 0;
	int tgid = number_there(w, process_of(w->tid));
	if (name[0] == 's')
		snprintf(text, size, "%d", tgid);
	else
		snprintf(text, size, "%d/task/%d", tgid, number_there(w, w->tid));
	return 1;
}

/* Puts a link's text in front of what is still to be walked. */
static int splice_link(struct walk *w, const char *text)
{
	char rest[sizeof w->rest];
	int length = snprintf(rest, sizeof rest, "%s/%s", text, w->rest);
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
		if (proc_self(w, name, text, sizeof text))
			return splice_link(w, text);
		/* A magic link leads to an object, not to a name: go where the kernel goes. */
		int probe = open_how(w->here, name, 0, RESOLVE_NO_MAGICLINKS);
		if (probe >= 0)
			close(probe);
		else if (errno == ELOOP) {
			int object = openat(w->here, name, O_PATH | O_CLOEXEC);
			if (object < 0)
				return -errno;
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

/* Walks to the end. On a last component that does not exist: -ENOENT, with its name in `missing`. */
static int walk_on(struct walk *w, int follow_last, char *missing)
{
	char name[NAME_MAX + 1];
	for (;;) {
		size_t length = take_component(w, name);
		if (length == (size_t)-1)
			return -ENAMETOOLONG;
		if (length == 0)
			return 0;
		int last = nothing_follows(w), trailing_slash = w->rest[0] == '/';
		if (strcmp(name, ".") == 0 || (strcmp(name, "..") == 0 && same_file(w->here, w->root)))
			continue;
		int fd = openat(w->here, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0) {
			if (errno == ENOENT && last)
				strcpy(missing, name);
			return -errno;
		}
		struct stat info;
		if (fstat(fd, &info) == 0 && S_ISLNK(info.st_mode) && (!last || follow_last || trailing_slash)) {
			int failed = follow_link(w, fd, name);
			close(fd);
			if (failed)
				return failed;
			continue;
		}
		step_to(w, fd);
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

/*
 * Most paths hold no link: one call then settles them, with every `..` taken by the kernel. Only for a tracee that
 * sees the same tree as we do.
 */
static ssize_t resolve_plain(pid_t tid, int dirfd, const char *path, int flags, char *into, size_t size)
{
	int base = AT_FDCWD;
	if (path[0] != '/' && (base = open_base(tid, dirfd)) < 0)
		return -EXDEV;
	int fd = open_how(base, path, flags & RESOLVE_FOLLOW ? 0 : O_NOFOLLOW, RESOLVE_NO_SYMLINKS);
	ssize_t length = fd < 0 ? -errno : is_normal(path) ? PATH_AS_ASKED : name_of(fd, into, size);
	if (fd >= 0)
		close(fd);
	if (base >= 0)
		close(base);
	return length;
}

ssize_t path_resolve(pid_t tid, int dirfd, const char *path, int flags, char *into, size_t size, int *missing)
{
	char name[NAME_MAX + 1] = "";
	struct walk *w;
	*missing = 0;
	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	ssize_t length = flags & RESOLVE_APART ? -EXDEV : resolve_plain(tid, dirfd, path, flags, into, size);
	if (length >= 0)
		return length;
	w = calloc(1, sizeof *w);
	if (w == NULL)
		return -ENOMEM;
	w->tid = tid;
	strcpy(w->rest, path);
	w->root = open_proc(tid, "root");
	w->here = path[0] == '/' ? fcntl(w->root, F_DUPFD_CLOEXEC, 3) : open_base(tid, dirfd);
	if (w->root < 0 || w->here < 0) {
		length = -errno;
	} else {
		int failed = walk_on(w, flags & RESOLVE_FOLLOW, name);
		length = failed && !name[0] ? failed : name_of(w->here, into, size);
		if (length >= 0 && name[0]) {
			size_t room = strlen(name) + 1;
			int at_root = length == 1 && into[0] == '/';
			*missing = 1;
			if ((size_t)length + room > size)
				length = -ENAMETOOLONG;
			else
				length += sprintf(into + length - at_root, "/%s", name) - at_root;
		}
	}
	if (w->here >= 0)
		close(w->here);
	if (w->root >= 0)
		close(w->root);
	free(w);
	return length;
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
