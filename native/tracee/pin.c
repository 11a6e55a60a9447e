/* Pinning what a path reaches in one or two system calls, if the path has no link. */
#define _GNU_SOURCE
#include "path.h"
#include "../kernel/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int path_is_plain(const char *path)
{
	for (const char *at = path[0] == '/' ? path + 1 : path;; at++) {
		size_t length = strcspn(at, "/");
		if (length == 0 || (at[0] == '.' && (length == 1 || (length == 2 && at[1] == '.'))))
			return 0;
		at += length;
		if (*at == 0)
			return 1;
	}
}

/* At the end of a path, a slash and a `.` ask for a folder: they stay, and the path is not plain. */
int path_without_dots(const char *path, char *into)
{
	char *end = into;
	if (strlen(path) >= PATH_MAX)
		return 0;
	for (const char *at = path; *at != 0;) {
		int is_empty = at[0] == '/' && at > path, is_dot = at[0] == '.' && at[1] == '/';
		if (is_empty || is_dot) {
			at += 1 + is_dot;
			continue;
		}
		size_t length = strcspn(at, "/");
		if (at[length] == '/')
			length++;
		memcpy(end, at, length);
		end += length;
		at += length;
	}
	*end = 0;
	return end > into && path_is_plain(into);
}

static int is_normal(const char *path)
{
	return path[0] == '/' && path_is_plain(path);
}

void pin_release(struct pin *pin)
{
	if (pin->state == PIN_FOUND)
		close(pin->object);
	if ((pin->state == PIN_FOUND || pin->state == PIN_MISSING) && pin->parent >= 0)
		close(pin->parent);
	pin->state = PIN_NONE;
}

void pin_hold(struct pin *pin, int object)
{
	memset(pin, 0, offsetof(struct pin, name) + 1);
	pin->state = PIN_FOUND;
	pin->object = object;
	pin->parent = -1;
}

void pin_note_device(struct pin *pin)
{
	struct stat info;
	int is_device = pin->state == PIN_FOUND && fstat(pin->object, &info) == 0 && S_ISCHR(info.st_mode);
	pin->device = is_device ? (uint32_t)info.st_rdev : 0;
}

/* Regular files only: reading anything else may block or have side effects. */
ssize_t pin_read(const struct pin *pin, uint64_t offset, void *into, size_t length)
{
	char name[16];
	struct stat info;
	if (pin->state != PIN_FOUND)
		return -ENOENT;
	if (fstat(pin->object, &info) < 0 || !S_ISREG(info.st_mode) || pin->error || procfs_is_hidden(pin->object))
		return -EACCES;
	snprintf(name, sizeof name, "%d", pin->object);
	int fd = openat(own_fds(), name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ssize_t got = pread(fd, into, length, (off_t)offset);
	int failed = got < 0 ? -errno : 0;
	close(fd);
	return failed ? failed : got;
}

int pin_stat(const struct pin *pin, int levels, struct pin_facts *facts)
{
	char way[PATH_MAX] = "", what[32], text[1024];
	struct statx info;
	int above = levels >= 0 && pin->parent >= 0, fd = above ? pin->parent : pin->object;
	if ((pin->state != PIN_FOUND && pin->state != PIN_MISSING) || fd < 0)
		return -ENOENT;
	for (int i = 0; above && i < levels && (size_t)i * 3 + 4 < sizeof way; i++)
		strcat(way, "../");
	if (statx(fd, way, AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID, &info) < 0)
		return -errno;
	snprintf(what, sizeof what, "fdinfo/%d", fd);
	ssize_t length = procfs_text(0, what, text, sizeof text);
	*facts = (struct pin_facts){
		.device = makedev(info.stx_dev_major, info.stx_dev_minor), .inode = info.stx_ino,
		.born = info.stx_mask & STATX_BTIME ? (double)info.stx_btime.tv_sec * 1e3 + info.stx_btime.tv_nsec / 1e6 : 0,
		.mount = info.stx_mnt_id, .inode_inside = length > 0 && !above ? procfs_number(text, "ino", 10) : 0,
		.links = info.stx_nlink,
	};
	return 0;
}

void pin_fail(struct pin *pin, int error)
{
	pin->state = PIN_FAILED;
	pin->error = error;
	pin->object = pin->parent = -1;
}

/* The whole path in one call; links are refused. */
static int pin_object(int base, const char *path, int flags, struct pin *pin)
{
	pin->object = open_how(base, path, flags & RESOLVE_FOLLOW ? 0 : O_NOFOLLOW, RESOLVE_NO_SYMLINKS);
	pin->parent = -1;
	if (pin->object < 0)
		return -errno;
	const char *slash = strrchr(path, '/');
	snprintf(pin->name, sizeof pin->name, "%.*s", NAME_MAX, slash ? slash + 1 : path);
	pin->state = PIN_FOUND;
	return 0;
}

/* The folder in one call, then the last component in it; links are refused. */
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
	int here = start == 0 && base >= 0; /* if that is no folder, openat below fails */
	int parent = here ? fcntl(base, F_DUPFD_CLOEXEC, 3) : open_how(base, folder, O_DIRECTORY, RESOLVE_NO_SYMLINKS);
	if (parent < 0)
		return -errno;
	int object = openat(parent, pin->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int error = errno;
	struct stat info;
	if (object >= 0 && flags & RESOLVE_FOLLOW && (fstat(object, &info) < 0 || S_ISLNK(info.st_mode))) {
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
 * Most paths have no link: one call or two resolve them, with every `..` resolved by the kernel. Only for a tracee that
 * has the same view as we have. Returns -ELOOP when the path has to be walked.
 */
ssize_t pin_plain(int base, const char *path, int flags, struct pin *pin, char *into, size_t size)
{
	int failed = flags & RESOLVE_PARENT ? pin_in_parent(base, path, flags, pin) : pin_object(base, path, flags, pin);
	/* A plain absolute path without a link is its own canonical name, even if nothing is there. */
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

/* Whether the tracee may not open a file in /proc: checks the last component, in the folder that the rest leads to. */
static int proc_refuses(int base, const char *path, int object, uint64_t restrictions, const struct proc_reader *reader)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct stat info;
	if (fstat(object, &info) == 0 && info.st_ino == 1)
		return 0;
	snprintf(folder, sizeof folder, "%.*s.", (int)(name - path), path);
	int parent = *name ? open_how(base, folder, O_DIRECTORY, restrictions) : -1;
	int entry = parent < 0 ? -1 : openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int owner = -EACCES;
	if (entry >= 0 && same_file(entry, object) && procfs_is(parent))
		owner = proc_access_check(reader, parent, name, fstat(object, &info) == 0 && S_ISLNK(info.st_mode));
	if (entry >= 0)
		close(entry);
	if (parent >= 0)
		close(parent);
	return owner < 0 ? EACCES : 0;
}

/*
 * openat2 with restrictions of the caller: only the kernel can apply them. It resolves /proc/self as us, and the tracee
 * must not get our own files in /proc.
 */
ssize_t pin_restricted(int base, const char *path, int flags, struct pin *pin, char *into, size_t size,
		       const struct proc_reader *reader)
{
	char folder[PATH_MAX], ours[32];
	uint64_t restrictions = (uint64_t)flags >> RESOLVE_HOW_SHIFT | RESOLVE_NO_MAGICLINKS;
	pin->object = open_how(base, path, flags & RESOLVE_FOLLOW ? 0 : O_NOFOLLOW, restrictions);
	if (pin->object >= 0) {
		pin->state = PIN_FOUND;
		ssize_t length = name_of(pin->object, into, size);
		int own = snprintf(ours, sizeof ours, "/proc/%d/", getpid());
		if (length > own && memcmp(into, ours, (size_t)own) == 0)
			return -EXDEV;
		pin->error = procfs_is(pin->object) ? proc_refuses(base, path, pin->object, restrictions, reader) : 0;
		return length;
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
