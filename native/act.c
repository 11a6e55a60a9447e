/*
 * On-behalf acts: what was decided is what happens. Paths have become pins, addresses and structures have become
 * copies; nothing here looks again at what the tracee could have changed meanwhile, except at data that nobody decides
 * on, which is read once.
 */
#define _GNU_SOURCE
#include "act.h"
#include "identity.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

enum { KERNEL_STAT_SIZE = 144, STATX_BYTES = 256, TTY_MAJOR = 5 };

static int64_t raw(int64_t result)
{
	return result < 0 ? -errno : result;
}

static int bad_pin(const struct pin *pin)
{
	return pin->state == PIN_FOUND ? 0 : pin->state == PIN_FAILED ? -pin->error : -ENOENT;
}

/* A pin as a path: what the kernel finds there is what was pinned. */
static const char *as_path(const struct pin *pin, char *text, size_t size)
{
	snprintf(text, size, "/proc/self/fd/%d", pin->object);
	return text;
}

/* ------------------------------------------------------------------ opening */

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

static int reopen(const struct act *act, const struct pin *pin, int flags, mode_t mode)
{
	char name[16];
	struct stat info;
	if (fstat(pin->object, &info) < 0)
		return -1;
	if (S_ISLNK(info.st_mode)) {
		errno = ELOOP;
		return -1;
	}
	if (flags & O_CREAT && flags & O_EXCL) {
		errno = EEXIST;
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
	return openat(own_fds(), name, flags, mode);
}

/* What did not exist when it was decided on comes into being now, or somebody else was faster. */
static int create(const struct act *act, struct pin *pin, int flags, mode_t mode)
{
	int fd = openat(pin->parent, pin->name, flags | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, mode);
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

/* ------------------------------------------------------------------ results that go to the tracee's memory */

static int64_t hand_out(const struct act *act, int argument, const void *bytes, size_t length, int64_t result)
{
	identity_pause();
	int failed = memory_write(act->tid, act->args[argument], bytes, length);
	return identity_resume() < 0 || failed ? -EFAULT : result;
}

static int take_in(const struct act *act, uint64_t address, void *into, size_t length)
{
	identity_pause();
	ssize_t got = memory_read(act->tid, address, into, length);
	return identity_resume() < 0 || got != (ssize_t)length ? -EFAULT : 0;
}

static ssize_t take_string(const struct act *act, int argument, char *into, size_t size, int *truncated)
{
	identity_pause();
	ssize_t length = memory_read_string(act->tid, act->args[argument], into, size - 1, truncated);
	if (identity_resume() < 0 || length < 0)
		return -EFAULT;
	into[length] = 0;
	return length;
}

static int64_t stat_pin(const struct act *act, int argument, int flags)
{
	uint8_t info[KERNEL_STAT_SIZE];
	int64_t result = raw(syscall(SYS_newfstatat, act->pins[0].object, "", info, flags | AT_EMPTY_PATH));
	return result < 0 ? result : hand_out(act, argument, info, sizeof info, 0);
}

static int64_t statx_pin(const struct act *act)
{
	uint8_t info[STATX_BYTES];
	int flags = (int)act->args[2] | AT_EMPTY_PATH;
	int64_t result = raw(syscall(SYS_statx, act->pins[0].object, "", flags, (unsigned int)act->args[3], info));
	return result < 0 ? result : hand_out(act, 4, info, sizeof info, 0);
}

static int64_t statfs_pin(const struct act *act)
{
	struct statfs info;
	int64_t result = raw(syscall(SYS_fstatfs, act->pins[0].object, &info));
	return result < 0 ? result : hand_out(act, 1, &info, sizeof info, 0);
}

static int64_t read_link(const struct act *act, int buffer)
{
	char text[PATH_MAX];
	int size = (int)act->args[buffer + 1];
	if (size <= 0)
		return -EINVAL;
	struct stat info;
	if (fstat(act->pins[0].object, &info) == 0 && !S_ISLNK(info.st_mode))
		return -EINVAL;
	int64_t length =
		raw(readlinkat(act->pins[0].object, "", text, size < PATH_MAX ? (size_t)size : (size_t)PATH_MAX));
	return length < 0 ? length : hand_out(act, buffer, text, (size_t)length, length);
}

/* ------------------------------------------------------------------ attributes */

static int64_t access_pin(const struct act *act, int mode, int flags)
{
	/* access(2) asks for the real user, and so does the kernel on our own account; AT_EACCESS when we are another. */
	int eaccess = act->as_tracee ? AT_EACCESS : flags & AT_EACCESS;
	return raw(syscall(SYS_faccessat2, act->pins[0].object, "", mode, AT_EMPTY_PATH | eaccess));
}

static int64_t change_mode(const struct act *act, mode_t mode)
{
	char path[64];
	struct stat info;
	if (fstat(act->pins[0].object, &info) == 0 && S_ISLNK(info.st_mode))
		return -EOPNOTSUPP;
	return raw(syscall(SYS_fchmodat, AT_FDCWD, as_path(&act->pins[0], path, sizeof path), mode));
}

static int64_t change_owner(const struct act *act, int uid, int gid)
{
	return raw(syscall(SYS_fchownat, act->pins[0].object, "", (uid_t)act->args[uid], (gid_t)act->args[gid],
			   AT_EMPTY_PATH));
}

static int64_t set_times(const struct act *act, int argument)
{
	struct timespec times[2];
	uint64_t at = act->args[argument];
	if (at == 0)
		return raw(syscall(SYS_utimensat, act->pins[0].object, "", NULL, AT_EMPTY_PATH));
	if (act->nr == SYS_utime) {
		struct utimbuf given;
		if (take_in(act, at, &given, sizeof given) < 0)
			return -EFAULT;
		times[0] = (struct timespec){ given.actime, 0 };
		times[1] = (struct timespec){ given.modtime, 0 };
	} else if (act->nr == SYS_utimensat) {
		if (take_in(act, at, times, sizeof times) < 0)
			return -EFAULT;
	} else {
		struct timeval given[2];
		if (take_in(act, at, given, sizeof given) < 0)
			return -EFAULT;
		for (int i = 0; i < 2; i++) {
			if (given[i].tv_usec < 0 || given[i].tv_usec >= 1000000)
				return -EINVAL;
			times[i] = (struct timespec){ given[i].tv_sec, given[i].tv_usec * 1000 };
		}
	}
	return raw(syscall(SYS_utimensat, act->pins[0].object, "", times, AT_EMPTY_PATH));
}

static int64_t read_name(const struct act *act, int argument, char *name, size_t size)
{
	int truncated;
	ssize_t length = take_string(act, argument, name, size, &truncated);
	return length < 0 ? length : truncated || length == 0 ? -ERANGE : 0;
}

static int64_t extended_attributes(const struct act *act)
{
	char path[64], name[XATTR_NAME_MAX + 2];
	as_path(&act->pins[0], path, sizeof path);
	int lists = act->nr == SYS_listxattr || act->nr == SYS_llistxattr;
	int gets = act->nr == SYS_getxattr || act->nr == SYS_lgetxattr, buffer = lists ? 1 : 2;
	size_t size = act->args[buffer + 1];
	if (!lists) {
		int64_t failed = read_name(act, 1, name, sizeof name);
		if (failed)
			return failed;
	}
	if (act->nr == SYS_removexattr || act->nr == SYS_lremovexattr)
		return raw(removexattr(path, name));
	if (!lists && !gets && size > XATTR_SIZE_MAX)
		return -E2BIG;
	if (size > XATTR_SIZE_MAX)
		size = XATTR_SIZE_MAX;
	uint8_t *value = malloc(size + 1);
	if (value == NULL)
		return -ENOMEM;
	int64_t result;
	if (lists || gets) {
		result = raw(lists ? listxattr(path, (char *)value, size) : getxattr(path, name, value, size));
		if (result > 0 && size > 0)
			result = hand_out(act, buffer, value, (size_t)result, result);
	} else if (size > 0 && take_in(act, act->args[2], value, size) < 0) {
		result = -EFAULT;
	} else {
		result = raw(setxattr(path, name, value, size, (int)act->args[4]));
	}
	free(value);
	return result;
}

static int64_t file_handle(const struct act *act)
{
	struct {
		unsigned int bytes;
		int type;
		uint8_t handle[128];
	} handle;
	int mount = 0;
	if (take_in(act, act->args[2], &handle.bytes, sizeof handle.bytes) < 0)
		return -EFAULT;
	if (handle.bytes > sizeof handle.handle)
		return -EINVAL;
	int64_t result = raw(syscall(SYS_name_to_handle_at, act->pins[0].object, "", &handle, &mount,
				     ((int)act->args[4] & ~AT_SYMLINK_FOLLOW) | AT_EMPTY_PATH));
	if (result < 0 && result != -EOVERFLOW)
		return result;
	size_t length = 8 + (result < 0 ? 0 : handle.bytes);
	if (hand_out(act, 3, &mount, sizeof mount, 0) < 0)
		return -EFAULT;
	return hand_out(act, 2, &handle, length, result);
}

static int64_t watch(const struct act *act)
{
	char path[64];
	int fd = descriptor_of(act->tid, (int)act->args[0]);
	if (fd < 0)
		return fd;
	int64_t result = raw(inotify_add_watch(fd, as_path(&act->pins[0], path, sizeof path),
					       (uint32_t)act->args[2] & ~(uint32_t)IN_DONT_FOLLOW));
	close(fd);
	return result;
}

/* ------------------------------------------------------------------ entries of folders */

static int64_t make_link(const struct act *act)
{
	const struct pin *from = &act->pins[0], *to = &act->pins[1];
	char path[64];
	struct stat info;
	if (fstat(from->object, &info) == 0 && S_ISLNK(info.st_mode) && from->parent >= 0)
		return raw(linkat(from->parent, from->name, to->parent, to->name, 0));
	return raw(linkat(AT_FDCWD, as_path(from, path, sizeof path), to->parent, to->name, AT_SYMLINK_FOLLOW));
}

static int64_t make_symlink(const struct act *act, int argument)
{
	char text[PATH_MAX];
	int truncated;
	ssize_t length = take_string(act, argument, text, sizeof text, &truncated);
	if (length < 0 || truncated)
		return length < 0 ? length : -ENAMETOOLONG;
	return raw(symlinkat(text, act->pins[0].parent, act->pins[0].name));
}

static int64_t rename_pins(const struct act *act, unsigned int flags)
{
	const struct pin *from = &act->pins[0], *to = &act->pins[1];
	return raw(syscall(SYS_renameat2, from->parent, from->name, to->parent, to->name, flags));
}

/* ------------------------------------------------------------------ all of them */

/* What the pins must be for the call to be worth making: the error that the kernel gives else, or 0. */
enum need { NEEDS_NOTHING, NEEDS_OBJECT, NEEDS_PARENT, NEEDS_TWO_PARENTS, NEEDS_OBJECT_AND_PARENT };

static enum need need_of(int nr)
{
	switch (nr) {
	case SYS_mkdir: case SYS_mkdirat: case SYS_mknod: case SYS_mknodat: case SYS_unlink: case SYS_unlinkat:
	case SYS_rmdir: case SYS_symlink: case SYS_symlinkat:
		return NEEDS_PARENT;
	case SYS_rename: case SYS_renameat: case SYS_renameat2:
		return NEEDS_TWO_PARENTS;
	case SYS_link: case SYS_linkat:
		return NEEDS_OBJECT_AND_PARENT;
	case SYS_open: case SYS_openat: case SYS_openat2: case SYS_creat:
	case SYS_connect: case SYS_bind: case SYS_sendto: case SYS_sendmsg: case SYS_sendmmsg:
		return NEEDS_NOTHING;
	default:
		return NEEDS_OBJECT;
	}
}

static int unmet(const struct pin *pin, int parent)
{
	if (pin->state == PIN_FAILED)
		return -pin->error;
	if (pin->state == PIN_NONE || (!parent && pin->state != PIN_FOUND))
		return pin->state == PIN_NONE ? -EACCES : -ENOENT;
	return 0;
}

static int needs_met(const struct act *act)
{
	int failed = 0;
	switch (need_of(act->nr)) {
	case NEEDS_OBJECT:
		return unmet(&act->pins[0], 0);
	case NEEDS_PARENT:
		return unmet(&act->pins[0], 1);
	case NEEDS_TWO_PARENTS:
		failed = unmet(&act->pins[0], 1);
		return failed ? failed : unmet(&act->pins[1], 1);
	case NEEDS_OBJECT_AND_PARENT:
		failed = unmet(&act->pins[0], 0);
		return failed ? failed : unmet(&act->pins[1], 1);
	default:
		return 0;
	}
}

static int creates(const struct act *act)
{
	switch (act->nr) {
	case SYS_mkdir: case SYS_mkdirat: case SYS_mknod: case SYS_mknodat: case SYS_creat: case SYS_bind:
		return 1;
	case SYS_open:
		return (act->args[1] & (O_CREAT | O_TMPFILE)) != 0;
	case SYS_openat:
		return (act->args[2] & (O_CREAT | O_TMPFILE)) != 0;
	case SYS_openat2:
		return 1;
	default:
		return 0;
	}
}

static int checks_real_user(const struct act *act)
{
	return act->nr == SYS_access || act->nr == SYS_faccessat ||
	       (act->nr == SYS_faccessat2 && !(act->args[3] & AT_EACCESS));
}

static struct outcome make(struct act *act)
{
	const uint64_t *args = act->args;
	const struct pin *pin = act->pins;
	int64_t result;
	switch (act->nr) {
	case SYS_open:
		return open_pin(act, (int)args[1], (mode_t)args[2]);
	case SYS_openat:
		return open_pin(act, (int)args[2], (mode_t)args[3]);
	case SYS_creat:
		return open_pin(act, O_CREAT | O_WRONLY | O_TRUNC, (mode_t)args[1]);
	case SYS_openat2:
		return open_how_pin(act);
	case SYS_stat: case SYS_lstat:
		result = stat_pin(act, 1, 0);
		break;
	case SYS_newfstatat:
		result = stat_pin(act, 2, (int)args[3] & AT_NO_AUTOMOUNT);
		break;
	case SYS_statx:
		result = statx_pin(act);
		break;
	case SYS_statfs:
		result = statfs_pin(act);
		break;
	case SYS_access:
		result = access_pin(act, (int)args[1], 0);
		break;
	case SYS_faccessat:
		result = access_pin(act, (int)args[2], 0);
		break;
	case SYS_faccessat2:
		result = access_pin(act, (int)args[2], (int)args[3]);
		break;
	case SYS_readlink:
		result = read_link(act, 1);
		break;
	case SYS_readlinkat:
		result = read_link(act, 2);
		break;
	case SYS_mkdir:
		result = raw(mkdirat(pin->parent, pin->name, (mode_t)args[1]));
		break;
	case SYS_mkdirat:
		result = raw(mkdirat(pin->parent, pin->name, (mode_t)args[2]));
		break;
	case SYS_mknod:
		result = raw(syscall(SYS_mknodat, pin->parent, pin->name, (mode_t)args[1], (unsigned int)args[2]));
		break;
	case SYS_mknodat:
		result = raw(syscall(SYS_mknodat, pin->parent, pin->name, (mode_t)args[2], (unsigned int)args[3]));
		break;
	case SYS_unlink:
		result = raw(unlinkat(pin->parent, pin->name, 0));
		break;
	case SYS_unlinkat:
		result = raw(unlinkat(pin->parent, pin->name, (int)args[2]));
		break;
	case SYS_rmdir:
		result = raw(unlinkat(pin->parent, pin->name, AT_REMOVEDIR));
		break;
	case SYS_rename: case SYS_renameat:
		result = rename_pins(act, 0);
		break;
	case SYS_renameat2:
		result = rename_pins(act, (unsigned int)args[4]);
		break;
	case SYS_link: case SYS_linkat:
		result = make_link(act);
		break;
	case SYS_symlink: case SYS_symlinkat:
		result = make_symlink(act, 0);
		break;
	case SYS_chmod:
		result = change_mode(act, (mode_t)args[1]);
		break;
	case SYS_fchmodat: case SYS_fchmodat2:
		result = change_mode(act, (mode_t)args[2]);
		break;
	case SYS_chown: case SYS_lchown:
		result = change_owner(act, 1, 2);
		break;
	case SYS_fchownat:
		result = change_owner(act, 2, 3);
		break;
	case SYS_truncate: {
		char path[64];
		result = raw(truncate(as_path(pin, path, sizeof path), (off_t)args[1]));
		break;
	}
	case SYS_utime: case SYS_utimes:
		result = set_times(act, 1);
		break;
	case SYS_futimesat: case SYS_utimensat:
		result = set_times(act, 2);
		break;
	case SYS_setxattr: case SYS_lsetxattr: case SYS_getxattr: case SYS_lgetxattr: case SYS_listxattr:
	case SYS_llistxattr: case SYS_removexattr: case SYS_lremovexattr:
		result = extended_attributes(act);
		break;
	case SYS_name_to_handle_at:
		result = file_handle(act);
		break;
	case SYS_inotify_add_watch:
		result = watch(act);
		break;
	case SYS_connect: case SYS_bind: case SYS_sendto: case SYS_sendmsg: case SYS_sendmmsg:
		result = act_on_socket(act);
		break;
	default:
		result = -ENOSYS;
	}
	return (struct outcome){ .result = result, .fd = -1 };
}

struct act *act_of(struct session *s, const struct event *event)
{
	const struct answer *answer = s->answer;
	struct act *act = calloc(1, sizeof *act);
	if (act == NULL)
		return NULL;
	act->tid = event->tid;
	act->nr = event->nr;
	memcpy(act->args, event->args, sizeof act->args);
	act->as_tracee = (answer->flags & ANSWER_AS_TRACEE) != 0;
	act->apart = (answer->flags & ANSWER_APART) != 0;
	for (uint32_t i = 0; i < answer->write_count && i < MAX_WRITES; i++) {
		const struct write *w = &answer->writes[i];
		if (w->offset > REPLY_SIZE || w->length > REPLY_SIZE - w->offset)
			continue;
		const uint8_t *bytes = s->buffer + REPLY_OFFSET + w->offset;
		if (w->kind == WRITE_HOW) {
			act->how_size = w->length < HOW_SIZE ? w->length : HOW_SIZE;
			memcpy(act->how, bytes, act->how_size);
		} else if (w->kind == WRITE_ADDRESS && act->addresses == NULL && (act->addresses = malloc(w->length))) {
			memcpy(act->addresses, bytes, w->length);
			act->address_count = w->length / ADDRESS_SIZE;
		}
	}
	struct pin *pins = session_pins(s);
	memcpy(act->pins, pins, sizeof act->pins);
	memset(pins, 0, sizeof act->pins);
	return act;
}

/* Opens of pipes and devices wait for the other side; sockets wait for theirs. */
int act_may_block(const struct act *act)
{
	struct stat info;
	int flags;
	switch (act->nr) {
	case SYS_open:
		flags = (int)act->args[1];
		break;
	case SYS_openat:
		flags = (int)act->args[2];
		break;
	case SYS_creat: case SYS_openat2:
		flags = 0;
		break;
	case SYS_connect: case SYS_sendto: case SYS_sendmsg: case SYS_sendmmsg:
		return act_socket_may_block(act);
	default:
		return 0;
	}
	return act->pins[0].state == PIN_FOUND && !(flags & (O_NONBLOCK | O_PATH)) &&
	       fstat(act->pins[0].object, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode)) &&
	       !(S_ISCHR(info.st_mode) && major(info.st_rdev) == 1); /* /dev/null and its like never wait */
}

struct outcome act_make(struct act *act)
{
	struct identity identity;
	struct outcome outcome = { .fd = -1 };
	mode_t own = 0;
	int failed = needs_met(act), masked;
	if (!failed && (act->as_tracee || creates(act)))
		failed = identity_read(act->tid, &identity);
	if ((masked = !failed && creates(act)))
		own = umask(identity.umask); /* this thread's alone: it does not share its view of files */
	if (!failed && act->as_tracee)
		failed = identity_assume(act->tid, &identity, checks_real_user(act));
	if (failed)
		outcome.result = failed;
	else
		outcome = make(act);
	identity_drop();
	if (masked)
		umask(own);
	return outcome;
}

void act_discard(struct act *act)
{
	for (int i = 0; i < MAX_PINS; i++)
		pin_release(&act->pins[i]);
	free(act->addresses);
	free(act);
}
