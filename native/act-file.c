/* On-behalf acts on files: their attributes, and the entries of folders. */
#define _GNU_SOURCE
#include "act.h"
#include "identity.h"
#include "procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

enum { KERNEL_STAT_SIZE = 144, STATX_BYTES = 256 };

/* A pin as a path: what the kernel finds there is what was pinned. */
static const char *as_path(const struct pin *pin, char *text)
{
	return own_fd_path(pin->object, text);
}

/* ------------------------------------------------------------------ results that go to the tracee's memory */

static int64_t hand_out(const struct act *act, int argument, const void *bytes, size_t length, int64_t result)
{
	identity_pause();
	int failed = memory_write(act->tid, act->args[argument], bytes, length);
	return identity_resume() < 0 || failed ? -EFAULT : result;
}

static int64_t stat_pin(const struct act *act, int argument, int flags)
{
	uint8_t info[KERNEL_STAT_SIZE];
	int64_t result = act_result(syscall(SYS_newfstatat, act->pins[0].object, "", info, flags | AT_EMPTY_PATH));
	return result < 0 ? result : hand_out(act, argument, info, sizeof info, 0);
}

static int64_t statx_pin(const struct act *act)
{
	uint8_t info[STATX_BYTES];
	int flags = (int)act->args[2] | AT_EMPTY_PATH;
	int64_t result = act_result(syscall(SYS_statx, act->pins[0].object, "", flags, (unsigned int)act->args[3], info));
	return result < 0 ? result : hand_out(act, 4, info, sizeof info, 0);
}

static int64_t statfs_pin(const struct act *act)
{
	struct statfs info;
	int64_t result = act_result(syscall(SYS_fstatfs, act->pins[0].object, &info));
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
	if (act->pins[0].error)
		return -act->pins[0].error;
	size_t room = size < PATH_MAX ? (size_t)size : (size_t)PATH_MAX;
	int self = proc_self(act->tid, act->pins[0].object, act->pins[0].name, text, room);
	int64_t length = self < 0 ? self : self ? (int64_t)strlen(text) : act_result(readlinkat(act->pins[0].object, "", text, room));
	return length < 0 ? length : hand_out(act, buffer, text, (size_t)length, length);
}

/* ------------------------------------------------------------------ attributes */

static int64_t access_pin(const struct act *act, int mode, int flags)
{
	/* access(2) asks for the real user, and so does the kernel on our own account; AT_EACCESS when we are another. */
	int eaccess = act->as_tracee ? AT_EACCESS : flags & AT_EACCESS;
	return act_result(syscall(SYS_faccessat2, act->pins[0].object, "", mode, AT_EMPTY_PATH | eaccess));
}

static int64_t change_mode(const struct act *act, mode_t mode)
{
	char path[OWN_FD_PATH];
	struct stat info;
	if (fstat(act->pins[0].object, &info) == 0 && S_ISLNK(info.st_mode))
		return -EOPNOTSUPP;
	return act_result(syscall(SYS_fchmodat, AT_FDCWD, as_path(&act->pins[0], path), mode));
}

static int64_t change_owner(const struct act *act, int uid, int gid)
{
	return act_result(syscall(SYS_fchownat, act->pins[0].object, "", (uid_t)act->args[uid], (gid_t)act->args[gid],
			   AT_EMPTY_PATH));
}

/* Without a path it is about the descriptor itself: the kernel takes no flags then, and none of O_PATH. */
static int64_t apply_times(const struct act *act, const struct timespec *times)
{
	int bare = (act->nr == SYS_utimensat || act->nr == SYS_futimesat) && act->args[1] == 0;
	int flags = !bare ? AT_EMPTY_PATH : act->nr == SYS_utimensat ? (int)act->args[3] : 0;
	return act_result(syscall(SYS_utimensat, act->pins[0].object, bare ? NULL : "", times, flags));
}

static int64_t set_times(const struct act *act, int argument)
{
	struct timespec times[2];
	uint64_t at = act->args[argument];
	if (at == 0)
		return apply_times(act, NULL);
	if (act->nr == SYS_utime) {
		struct utimbuf given;
		if (act_take(act, at, &given, sizeof given) < 0)
			return -EFAULT;
		times[0] = (struct timespec){ given.actime, 0 };
		times[1] = (struct timespec){ given.modtime, 0 };
	} else if (act->nr == SYS_utimensat) {
		if (act_take(act, at, times, sizeof times) < 0)
			return -EFAULT;
	} else {
		struct timeval given[2];
		if (act_take(act, at, given, sizeof given) < 0)
			return -EFAULT;
		for (int i = 0; i < 2; i++) {
			if (given[i].tv_usec < 0 || given[i].tv_usec >= 1000000)
				return -EINVAL;
			times[i] = (struct timespec){ given[i].tv_sec, given[i].tv_usec * 1000 };
		}
	}
	return apply_times(act, times);
}

int64_t act_take_name(const struct act *act, int argument, char *name, size_t size)
{
	int truncated;
	ssize_t length = act_take_string(act, argument, name, size, &truncated);
	return length < 0 ? length : truncated || length == 0 ? -ERANGE : 0;
}

static int64_t extended_attributes(const struct act *act)
{
	char path[OWN_FD_PATH], name[XATTR_NAME_MAX + 2];
	as_path(&act->pins[0], path);
	int lists = act->nr == SYS_listxattr || act->nr == SYS_llistxattr;
	int gets = act->nr == SYS_getxattr || act->nr == SYS_lgetxattr, buffer = lists ? 1 : 2;
	size_t size = act->args[buffer + 1];
	if (!lists) {
		int64_t failed = act_take_name(act, 1, name, sizeof name);
		if (failed)
			return failed;
	}
	if (act->nr == SYS_removexattr || act->nr == SYS_lremovexattr)
		return act_result(removexattr(path, name));
	if (!lists && !gets && size > XATTR_SIZE_MAX)
		return -E2BIG;
	if (size > XATTR_SIZE_MAX)
		size = XATTR_SIZE_MAX;
	uint8_t *value = malloc(size + 1);
	if (value == NULL)
		return -ENOMEM;
	int64_t result;
	if (lists || gets) {
		result = act_result(lists ? listxattr(path, (char *)value, size) : getxattr(path, name, value, size));
		if (result > 0 && size > 0)
			result = hand_out(act, buffer, value, (size_t)result, result);
	} else if (size > 0 && act_take(act, act->args[2], value, size) < 0) {
		result = -EFAULT;
	} else {
		result = act_result(setxattr(path, name, value, size, (int)act->args[4]));
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
	if (act_take(act, act->args[2], &handle.bytes, sizeof handle.bytes) < 0)
		return -EFAULT;
	if (handle.bytes > sizeof handle.handle)
		return -EINVAL;
	int64_t result = act_result(syscall(SYS_name_to_handle_at, act->pins[0].object, "", &handle, &mount,
				     ((int)act->args[4] & ~AT_SYMLINK_FOLLOW) | AT_EMPTY_PATH));
	if (result < 0 && result != -EOVERFLOW)
		return result;
	size_t length = 8 + (result < 0 ? 0 : handle.bytes);
	if (hand_out(act, 3, &mount, sizeof mount, 0) < 0)
		return -EFAULT;
	return hand_out(act, 2, &handle, length, result);
}

static int64_t watch_by_fanotify(const struct act *act)
{
	char path[64];
	int fd = descriptor_of(act->tid, (int)act->args[0]);
	if (fd < 0)
		return fd;
	int64_t result = act_result(fanotify_mark(fd, (unsigned int)act->args[1] & ~(unsigned int)FAN_MARK_DONT_FOLLOW,
						  act->args[2], AT_FDCWD, as_path(&act->pins[0], path)));
	close(fd);
	return result;
}

static int64_t watch(const struct act *act)
{
	char path[OWN_FD_PATH];
	int fd = descriptor_of(act->tid, (int)act->args[0]);
	if (fd < 0)
		return fd;
	int64_t result = act_result(inotify_add_watch(fd, as_path(&act->pins[0], path),
					       (uint32_t)act->args[2] & ~(uint32_t)IN_DONT_FOLLOW));
	close(fd);
	return result;
}

/* ------------------------------------------------------------------ entries of folders */

static int64_t make_link(const struct act *act)
{
	const struct pin *from = &act->pins[0], *to = &act->pins[1];
	char path[OWN_FD_PATH];
	struct stat info;
	int known = fstat(from->object, &info) == 0;
	if (known && !S_ISDIR(info.st_mode) && from->parent >= 0 && strchr(from->name, '/') != NULL && from->name[0] != '/')
		return -ENOTDIR;
	if (known && S_ISLNK(info.st_mode) && from->parent >= 0)
		return act_result(linkat(from->parent, from->name, to->parent, to->name, 0));
	return act_result(linkat(AT_FDCWD, as_path(from, path), to->parent, to->name, AT_SYMLINK_FOLLOW));
}

static int64_t make_symlink(const struct act *act, int argument)
{
	char text[PATH_MAX];
	int truncated;
	ssize_t length = act_take_string(act, argument, text, sizeof text, &truncated);
	if (length < 0 || truncated)
		return length < 0 ? length : -ENAMETOOLONG;
	return act_result(symlinkat(text, act->pins[0].parent, act->pins[0].name));
}

static int64_t rename_pins(const struct act *act, unsigned int flags)
{
	const struct pin *from = &act->pins[0], *to = &act->pins[1];
	return act_result(syscall(SYS_renameat2, from->parent, from->name, to->parent, to->name, flags));
}

/* ------------------------------------------------------------------ limits */

/* Its own limits, as prlimit(2) lets one process set another's; `old` is the argument that gets the former ones, or 0. */
static int64_t set_limit(const struct act *act, int resource, uint64_t at, int old)
{
	struct rlimit given, before;
	if (at != 0 && act_take(act, at, &given, sizeof given) < 0)
		return -EFAULT;
	int64_t result = act_result(prlimit(act->tid, (__rlimit_resource_t)resource, at ? &given : NULL, &before));
	return result < 0 || old == 0 || act->args[old] == 0 ? result : hand_out(act, old, &before, sizeof before, 0);
}

/* ------------------------------------------------------------------ all of them */

int64_t act_on_file(const struct act *act)
{
	const uint64_t *args = act->args;
	const struct pin *pin = act->pins;
	switch (act->nr) {
	case SYS_stat: case SYS_lstat:
		return stat_pin(act, 1, 0);
	case SYS_newfstatat:
		return stat_pin(act, 2, (int)args[3] & AT_NO_AUTOMOUNT);
	case SYS_statx:
		return statx_pin(act);
	case SYS_statfs:
		return statfs_pin(act);
	case SYS_access:
		return access_pin(act, (int)args[1], 0);
	case SYS_faccessat:
		return access_pin(act, (int)args[2], 0);
	case SYS_faccessat2:
		return access_pin(act, (int)args[2], (int)args[3]);
	case SYS_readlink:
		return read_link(act, 1);
	case SYS_readlinkat:
		return read_link(act, 2);
	case SYS_mkdir:
		return act_result(mkdirat(pin->parent, pin->name, (mode_t)args[1]));
	case SYS_mkdirat:
		return act_result(mkdirat(pin->parent, pin->name, (mode_t)args[2]));
	case SYS_mknod:
		return act_result(syscall(SYS_mknodat, pin->parent, pin->name, (mode_t)args[1], (unsigned int)args[2]));
	case SYS_mknodat:
		return act_result(syscall(SYS_mknodat, pin->parent, pin->name, (mode_t)args[2], (unsigned int)args[3]));
	case SYS_unlink:
		return act_result(unlinkat(pin->parent, pin->name, 0));
	case SYS_unlinkat:
		return act_result(unlinkat(pin->parent, pin->name, (int)args[2]));
	case SYS_rmdir:
		return act_result(unlinkat(pin->parent, pin->name, AT_REMOVEDIR));
	case SYS_rename: case SYS_renameat:
		return rename_pins(act, 0);
	case SYS_renameat2:
		return rename_pins(act, (unsigned int)args[4]);
	case SYS_link: case SYS_linkat:
		return make_link(act);
	case SYS_symlink: case SYS_symlinkat:
		return make_symlink(act, 0);
	case SYS_chmod:
		return change_mode(act, (mode_t)args[1]);
	case SYS_fchmodat: case SYS_fchmodat2:
		return change_mode(act, (mode_t)args[2]);
	case SYS_chown: case SYS_lchown:
		return change_owner(act, 1, 2);
	case SYS_fchownat:
		return change_owner(act, 2, 3);
	case SYS_truncate: {
		char path[OWN_FD_PATH];
		return act_grows_too_large(act, (int64_t)args[1])
			       ? -EFBIG
			       : act_result(truncate(as_path(pin, path), (off_t)args[1]));
	}
	case SYS_utime: case SYS_utimes:
		return set_times(act, 1);
	case SYS_futimesat: case SYS_utimensat:
		return set_times(act, 2);
	case SYS_setxattr: case SYS_lsetxattr: case SYS_getxattr: case SYS_lgetxattr: case SYS_listxattr:
	case SYS_llistxattr: case SYS_removexattr: case SYS_lremovexattr:
		return extended_attributes(act);
	case SYS_name_to_handle_at:
		return file_handle(act);
	case SYS_inotify_add_watch:
		return watch(act);
	case SYS_fanotify_mark:
		return watch_by_fanotify(act);
	case SYS_setrlimit:
		return set_limit(act, (int)args[0], args[1], 0);
	case SYS_prlimit64:
		return set_limit(act, (int)args[1], args[2], 3);
	default:
		return -ENOSYS;
	}
}
