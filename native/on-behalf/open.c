/* On-behalf calls that open files: the tracee gets a descriptor of what was decided on. */
#define _GNU_SOURCE
#include "on-behalf.h"
#include "../kernel/procfs.h"
#include "../tracee/identity.h"
#include "../tracee/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { CONSOLE_MAJOR = 4, TTY_MAJOR = 5, PTS_MAJOR = 136, FIRST_SERIAL = 64 };

static int pin_error(const struct pin *pin)
{
	return pin->state == PIN_FOUND ? 0 : pin->state == PIN_FAILED ? -pin->error : -ENOENT;
}

static int is_tty_of_caller(const struct stat *info)
{
	return S_ISCHR(info->st_mode) && major(info->st_rdev) == TTY_MAJOR && minor(info->st_rdev) == 0;
}

/* The device number of a process's terminal, 0 for none. */
static dev_t terminal_of(pid_t tid)
{
	char line[1024];
	int terminal = 0;
	char *after = procfs_text(tid, "stat", line, sizeof line) > 0 ? strrchr(line, ')') : NULL;
	return after && sscanf(after + 2, "%*c %*d %*d %*d %d", &terminal) == 1 ? (dev_t)(unsigned int)terminal : 0;
}

/* The path of such a terminal below a root. */
static int name_terminal(dev_t terminal, char *name, size_t size)
{
	unsigned number = minor(terminal);
	if (major(terminal) == PTS_MAJOR)
		return snprintf(name, size, "dev/pts/%u", number) > 0;
	if (major(terminal) != CONSOLE_MAJOR)
		return 0;
	return snprintf(name, size, number < FIRST_SERIAL ? "dev/tty%u" : "dev/ttyS%u",
			number < FIRST_SERIAL ? number : number - FIRST_SERIAL) > 0;
}

/* A file with a terminal's device number is a terminal only in devpts, or where the system made it. */
static int is_terminal(int pin, dev_t terminal)
{
	struct stat info;
	struct statfs where;
	return fstat(pin, &info) == 0 && S_ISCHR(info.st_mode) && info.st_rdev == terminal &&
	       (major(terminal) != PTS_MAJOR || (fstatfs(pin, &where) == 0 && where.f_type == DEVPTS_SUPER_MAGIC));
}

/* Opened below the caller's own root, without following a link, and checked before it is opened. */
static int open_below_root(int root, dev_t terminal, int flags)
{
	char name[32], number[16];
	int pin = root < 0 || !name_terminal(terminal, name, sizeof name)
			  ? -1
			  : open_how(root, name, 0, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	int fd = -1, error = ENXIO;
	if (pin >= 0 && is_terminal(pin, terminal)) {
		snprintf(number, sizeof number, "%d", pin);
		fd = openat(own_fds(), number, flags);
		error = errno;
	}
	if (pin >= 0)
		close(pin);
	errno = error;
	return fd;
}

/* The caller has the same terminal as we have, so /dev/tty means the same for both. */
static int open_shared_terminal(dev_t terminal, int flags)
{
	unsigned int opened = 0;
	int fd = open("/dev/tty", flags);
	if (fd < 0 || (ioctl(fd, TIOCGDEV, &opened) == 0 && opened == (unsigned int)terminal))
		return fd;
	close(fd);
	errno = ENXIO;
	return -1;
}

/* /dev/tty is the caller's terminal, which may differ from ours. The caller gets its own, or ENXIO. */
static int open_callers_terminal(pid_t tid, int flags)
{
	identity_pause();
	dev_t terminal = terminal_of(tid);
	int shared = getsid(tid) == getsid(0) && terminal == terminal_of(getpid());
	int root = terminal == 0 || shared ? -1 : open_proc(tid, "root");
	if (identity_resume() < 0)
		terminal = 0;
	int fd = shared && terminal ? open_shared_terminal(terminal, flags) : open_below_root(root, terminal, flags);
	int error = errno;
	if (root >= 0)
		close(root);
	errno = error;
	return fd;
}

/*
 * An open that breaks a lease waits for its holder, up to /proc/sys/fs/lease-break-time (fcntl(2)). Where others wait, we
 * only start to break it.
 */
static int open_at_once(const char *name, int flags, mode_t mode)
{
	int fd = openat(own_fds(), name, flags | O_NONBLOCK, mode);
	if (fd >= 0 && fcntl(fd, F_SETFL, flags) < 0) {
		close(fd);
		errno = EIO;
		return -1;
	}
	return fd;
}

static int reopen(const struct on_behalf_call *call, const struct pin *pin, int flags, mode_t mode)
{
	char name[16];
	struct stat info;
	int fd;
	if (fstat(pin->object, &info) < 0)
		return -1;
	if (pin->error || procfs_is_hidden(pin->object)) { /* the kernel would check our rights: see tracee/proc-access.c */
		errno = pin->error ? pin->error : EACCES;
		return -1;
	}
	if (flags & O_CREAT && flags & O_EXCL) {
		errno = EEXIST;
		return -1;
	}
	if (S_ISLNK(info.st_mode)) {
		errno = flags & O_DIRECTORY ? ENOTDIR : ELOOP;
		return -1;
	}
	if (flags & O_CREAT && S_ISDIR(info.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	/* It must not become our controlling terminal. */
	flags = (flags & ~(O_CREAT | O_NOFOLLOW)) | O_NOCTTY | O_CLOEXEC;
	if (is_tty_of_caller(&info))
		return open_callers_terminal(call->tid, flags);
	if (on_behalf_open_in_namespaces(call, pin->object, flags, &fd))
		return fd;
	snprintf(name, sizeof name, "%d", pin->object);
	return call->no_wait && S_ISREG(info.st_mode) && !(flags & O_NONBLOCK) ? open_at_once(name, flags, mode)
									       : openat(own_fds(), name, flags, mode);
}

/* ------------------------------------------------------------------ irreversible steps wait for the descriptor */

static int open_below(pid_t tid, rlim_t limit)
{
	DIR *listed = procfs_list(tid, "fd");
	int count = 0;
	if (listed == NULL)
		return 0;
	for (struct dirent *entry; (entry = readdir(listed)) != NULL;)
		count += entry->d_name[0] != '.' && strtoul(entry->d_name, NULL, 10) < limit;
	closedir(listed);
	return count;
}

int on_behalf_has_free_fd(pid_t tid)
{
	struct rlimit limit;
	struct stat info;
	identity_pause();
	int room = prlimit(tid, RLIMIT_NOFILE, NULL, &limit) < 0 || procfs_stat(tid, "fd", &info) < 0;
	/* Since Linux 6.2 the size of that folder is the number of open descriptors, which mostly settles it. */
	if (!room && info.st_size > 0 && (rlim_t)info.st_size < limit.rlim_cur)
		room = 1;
	else if (!room)
		room = (rlim_t)open_below(tid, limit.rlim_cur) < limit.rlim_cur;
	return identity_resume() == 0 && room;
}

int on_behalf_empties(int object, const struct stat *info, int flags)
{
	struct statx more;
	if (!(flags & O_TRUNC) || (flags & O_ACCMODE) == O_RDONLY || !S_ISREG(info->st_mode) || info->st_size == 0)
		return 0;
	int known = statx(object, "", AT_EMPTY_PATH, 0, &more) == 0;
	return known && more.stx_attributes & STATX_ATTR_APPEND ? -EPERM : 1;
}

/* Creates a file that did not exist when it was decided on. EEXIST: another process has created it meanwhile. */
static int create(const struct on_behalf_call *call, const struct pin *pin, int flags, mode_t mode)
{
	if (!on_behalf_has_free_fd(call->tid)) {
		errno = EMFILE;
		return -1;
	}
	return openat(pin->parent, pin->name, flags | O_EXCL | O_NOCTTY | O_CLOEXEC, mode);
}

static struct outcome descriptor(int fd, int flags)
{
	if (fd < 0)
		return (struct outcome){ .result = -errno, .fd = -1 };
	return (struct outcome){ .fd = fd, .fd_flags = (uint32_t)(flags & O_CLOEXEC) };
}

static struct outcome failure(int error)
{
	return (struct outcome){ .result = error, .fd = -1 };
}

static struct outcome open_found(const struct on_behalf_call *call, const struct pin *pin, int flags, mode_t mode)
{
	struct stat info;
	if (fstat(pin->object, &info) < 0)
		return failure(-errno);
	int truncate_later = on_behalf_empties(pin->object, &info, flags);
	if (truncate_later < 0)
		return failure(truncate_later);
	if (!truncate_later && flags & O_TRUNC && S_ISREG(info.st_mode) && info.st_size > 0 && !on_behalf_has_free_fd(call->tid))
		return failure(-EMFILE);
	struct outcome outcome = descriptor(reopen(call, pin, truncate_later ? flags & ~O_TRUNC : flags, mode), flags);
	outcome.truncates = truncate_later && outcome.fd >= 0;
	outcome.as = call->as_tracee ? call->tid : 0;
	return outcome;
}

static struct outcome open_pin(struct on_behalf_call *call, int flags, mode_t mode)
{
	struct pin *pin = &call->pins[0];
	if (pin->state == PIN_FAILED || (pin->state == PIN_MISSING && (!(flags & O_CREAT) || flags & O_PATH)))
		return failure(pin_error(pin));
	if (flags & O_CREAT && pin->parent >= 0 && pin->name[0] != '/' && strchr(pin->name, '/') != NULL)
		return failure(-EISDIR);
	if (flags & O_PATH) /* cannot be put into another process: TypeScript lets such a call continue */
		return failure(-ENOSYS);
	if (pin->state == PIN_MISSING) {
		int fd = create(call, pin, flags, mode);
		if (fd >= 0 || errno != EEXIST || flags & O_EXCL)
			return descriptor(fd, flags);
		pin->object = openat(pin->parent, pin->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (pin->object < 0)
			return failure(-errno);
		pin->state = PIN_FOUND;
		if (procfs_is(pin->object))
			return failure(-EACCES); /* its owner has not been checked */
	}
	return open_found(call, pin, flags, mode);
}

static struct outcome open_how_pin(struct on_behalf_call *call)
{
	struct open_how how;
	memset(&how, 0, sizeof how);
	if (call->how_size < sizeof how)
		return failure(-EINVAL);
	memcpy(&how, call->how, sizeof how);
	if (how.resolve & RESOLVE_CACHED)
		return failure(-EAGAIN);
	return open_pin(call, (int)how.flags, (mode_t)how.mode);
}

struct outcome on_behalf_open(struct on_behalf_call *call)
{
	const uint64_t *args = call->args;
	switch (call->nr) {
	case SYS_open:
		return open_pin(call, (int)args[1], (mode_t)args[2]);
	case SYS_openat:
		return open_pin(call, (int)args[2], (mode_t)args[3]);
	case SYS_creat:
		return open_pin(call, O_CREAT | O_WRONLY | O_TRUNC, (mode_t)args[1]);
	default:
		return open_how_pin(call);
	}
}

/* Opening a pipe or a device may wait for the other side. */
int on_behalf_open_may_block(const struct on_behalf_call *call)
{
	struct stat info;
	int flags = call->nr == SYS_open ? (int)call->args[1] : call->nr == SYS_openat ? (int)call->args[2] : 0;
	return call->pins[0].state == PIN_FOUND && !(flags & (O_NONBLOCK | O_PATH)) &&
	       fstat(call->pins[0].object, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode)) &&
	       !(S_ISCHR(info.st_mode) && major(info.st_rdev) == 1); /* /dev/null and other memory devices never wait */
}
