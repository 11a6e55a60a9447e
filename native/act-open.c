/* On-behalf acts that open files: the tracee gets a descriptor of what was decided on. */
#define _GNU_SOURCE
#include "act.h"
#include "identity.h"
#include "path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { TTY_MAJOR = 5 };

static int bad_pin(const struct pin *pin)
{
	return pin->state == PIN_FOUND ? 0 : pin->state == PIN_FAILED ? -pin->error : -ENOENT;
}

static int is_tty_of_caller(const struct stat *info)
{
	return S_ISCHR(info->st_mode) && major(info->st_rdev) == TTY_MAJOR && minor(info->st_rdev) == 0;
}

/* /dev/tty is whatever terminal the caller has, which need not be ours. */
static int open_callers_terminal(pid_t tid, int flags)
{
	char path[64], line[1024];
	int session = 0, terminal = 0;
	if (getsid(tid) == getsid(0))
		return open("/dev/tty", flags);
	snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return -1;
	char *after = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
	fclose(file);
	if (after == NULL || sscanf(after + 2, "%*c %*d %*d %d %d", &session, &terminal) != 2 || terminal == 0) {
		errno = ENXIO;
		return -1;
	}
	snprintf(path, sizeof path, "/proc/%d/root/dev/pts/%u", (int)tid, minor((dev_t)terminal));
	return open(path, flags);
}

/* Files of /proc that show the namespaces of whoever opens them. */
static int shows_openers_namespace(int object)
{
	static const char *const PLACES[] = { "/proc/sysvipc/", "/proc/sys/net/", "/proc/sys/fs/mqueue/", "/proc/keys",
					      "/proc/key-users" };
	char name[64];
	ssize_t length = name_of(object, name, sizeof name - 1);
	name[length < 0 ? 0 : length] = 0;
	for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++)
		if (strncmp(name, PLACES[i], strlen(PLACES[i])) == 0)
			return 1;
	return 0;
}

static int join(pid_t tid, const char *space)
{
	char path[64];
	if (tid != 0)
		snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)tid, space);
	else
		snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)getpid(), space);
	int fd = open(path, O_RDONLY | O_CLOEXEC), failed = fd < 0 || setns(fd, 0) < 0;
	if (fd >= 0)
		close(fd);
	return failed ? -1 : 0;
}

/* … are opened in the caller's, or not at all. This thread leaves ours for a moment; /proc/self is the process's. */
static int open_in_callers_namespaces(const struct act *act, const char *name, int flags)
{
	identity_pause();
	int fd = -1, joined = join(act->tid, "ipc") == 0 && join(act->tid, "net") == 0;
	if (identity_resume() == 0 && joined)
		fd = openat(own_fds(), name, flags);
	int error = joined ? errno : EACCES;
	identity_pause();
	if ((join(0, "ipc") < 0 || join(0, "net") < 0) && joined)
		abort(); /* whoever cannot find back must not go on */
	identity_resume();
	errno = error;
	return fd;
}

/*
 * A file whose holder of a lease is asked to give it up is waited for, up to /proc/sys/fs/lease-break-time (fcntl(2)):
 * where others wait we only ask.
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

static int reopen(const struct act *act, const struct pin *pin, int flags, mode_t mode)
{
	char name[16];
	struct stat info;
	if (fstat(pin->object, &info) < 0)
		return -1;
	if (flags & O_CREAT && flags & O_EXCL) {
		errno = EEXIST;
		return -1;
	}
	if (S_ISLNK(info.st_mode)) {
		errno = ELOOP;
		return -1;
	}
	if (flags & O_CREAT && S_ISDIR(info.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	/* A terminal must not become ours. */
	flags = (flags & ~(O_CREAT | O_NOFOLLOW)) | O_NOCTTY | O_CLOEXEC;
	if (is_tty_of_caller(&info))
		return open_callers_terminal(act->tid, flags);
	snprintf(name, sizeof name, "%d", pin->object);
	if ((act->apart || act->as_tracee) && shows_openers_namespace(pin->object))
		return open_in_callers_namespaces(act, name, flags);
	return act->at_once && S_ISREG(info.st_mode) && !(flags & O_NONBLOCK) ? open_at_once(name, flags, mode)
									       : openat(own_fds(), name, flags, mode);
}

/* What did not exist when it was decided on comes into being now, or somebody else was faster. */
static int create(const struct act *act, struct pin *pin, int flags, mode_t mode)
{
	int fd = openat(pin->parent, pin->name, flags | O_EXCL | O_NOCTTY | O_CLOEXEC, mode);
	if (fd >= 0 || errno != EEXIST || flags & O_EXCL)
		return fd;
	pin->object = openat(pin->parent, pin->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (pin->object < 0)
		return -1;
	pin->state = PIN_FOUND;
	return reopen(act, pin, flags, mode);
}

static struct outcome descriptor(int fd, int flags)
{
	if (fd < 0)
		return (struct outcome){ .result = -errno, .fd = -1 };
	return (struct outcome){ .fd = fd, .fd_flags = (uint32_t)(flags & O_CLOEXEC) };
}

static struct outcome open_pin(struct act *act, int flags, mode_t mode)
{
	struct pin *pin = &act->pins[0];
	if (pin->state == PIN_FAILED || (pin->state == PIN_MISSING && (!(flags & O_CREAT) || flags & O_PATH)))
		return (struct outcome){ .result = bad_pin(pin), .fd = -1 };
	if (flags & O_CREAT && pin->parent >= 0 && pin->name[0] != '/' && strchr(pin->name, '/') != NULL)
		return (struct outcome){ .result = -EISDIR, .fd = -1 };
	if (flags & O_PATH) /* the kernel puts no such descriptor into another process; letHappen() knows */
		return (struct outcome){ .result = -ENOSYS, .fd = -1 };
	return descriptor(pin->state == PIN_MISSING ? create(act, pin, flags, mode) : reopen(act, pin, flags, mode), flags);
}

/* openat2 is strict where the others ignore: the kernel checks the flags on a path that is not there. */
static struct outcome open_how_pin(struct act *act)
{
	struct open_how how;
	memset(&how, 0, sizeof how);
	if (act->how_size < sizeof how)
		return (struct outcome){ .result = -EINVAL, .fd = -1 };
	memcpy(&how, act->how, sizeof how);
	if (how.resolve & RESOLVE_CACHED)
		return (struct outcome){ .result = -EAGAIN, .fd = -1 };
	if (syscall(SYS_openat2, AT_FDCWD, "", &how, sizeof how) < 0 && errno != ENOENT)
		return (struct outcome){ .result = -errno, .fd = -1 };
	return open_pin(act, (int)how.flags, (mode_t)how.mode);
}

/* openat, open, creat and openat2. */
struct outcome act_open(struct act *act)
{
	const uint64_t *args = act->args;
	switch (act->nr) {
	case SYS_open:
		return open_pin(act, (int)args[1], (mode_t)args[2]);
	case SYS_openat:
		return open_pin(act, (int)args[2], (mode_t)args[3]);
	case SYS_creat:
		return open_pin(act, O_CREAT | O_WRONLY | O_TRUNC, (mode_t)args[1]);
	default:
		return open_how_pin(act);
	}
}

/* Opens of pipes and devices wait for the other side. */
int act_open_may_block(const struct act *act)
{
	struct stat info;
	int flags = act->nr == SYS_open ? (int)act->args[1] : act->nr == SYS_openat ? (int)act->args[2] : 0;
	return act->pins[0].state == PIN_FOUND && !(flags & (O_NONBLOCK | O_PATH)) &&
	       fstat(act->pins[0].object, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode)) &&
	       !(S_ISCHR(info.st_mode) && major(info.st_rdev) == 1); /* /dev/null and its like never wait */
}
