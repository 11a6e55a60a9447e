/* On-behalf calls on files: their attributes, and the entries of folders. */
#define _GNU_SOURCE
#include "on-behalf.h"
#include "../kernel/procfs.h"
#include "../tracee/fd-copy.h"
#include "../tracee/path.h"

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
#include <unistd.h>
#include <utime.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

enum { KERNEL_STAT_SIZE = 144, STATX_BYTES = 256 };

/* A pin as a path. The kernel finds the pinned object there. */
static const char *as_path(const struct pin *pin, char *text)
{
	return own_fd_path(pin->object, text);
}

/* ------------------------------------------------------------------ results in the tracee's memory */

static int64_t stat_pin(const struct on_behalf_call *call, int argument, int flags)
{
	uint8_t info[KERNEL_STAT_SIZE];
	int64_t result = kernel_result(syscall(SYS_newfstatat, call->pins[0].object, "", info, flags | AT_EMPTY_PATH));
	return result < 0 ? result : on_behalf_write(call, argument, info, sizeof info, 0);
}

static int64_t statx_pin(const struct on_behalf_call *call)
{
	uint8_t info[STATX_BYTES];
	int flags = (int)call->args[2] | AT_EMPTY_PATH;
	int64_t result = kernel_result(syscall(SYS_statx, call->pins[0].object, "", flags, (unsigned int)call->args[3], info));
	return result < 0 ? result : on_behalf_write(call, 4, info, sizeof info, 0);
}

static int64_t statfs_pin(const struct on_behalf_call *call)
{
	struct statfs info;
	int64_t result = kernel_result(syscall(SYS_fstatfs, call->pins[0].object, &info));
	return result < 0 ? result : on_behalf_write(call, 1, &info, sizeof info, 0);
}

static int64_t read_link(const struct on_behalf_call *call, int buffer)
{
	char text[PATH_MAX];
	int size = (int)call->args[buffer + 1], truncated;
	if (size <= 0)
		return -EINVAL;
	struct stat info;
	if (fstat(call->pins[0].object, &info) == 0 && !S_ISLNK(info.st_mode))
		return on_behalf_read_string(call, buffer - 1, text, sizeof text, &truncated) == 0 ? -ENOENT : -EINVAL;
	if (call->pins[0].error)
		return -call->pins[0].error;
	size_t room = size < PATH_MAX ? (size_t)size : (size_t)PATH_MAX;
	int self = proc_self_target(call->tid, call->pins[0].object, call->pins[0].name, text, room);
	int64_t length = self < 0 ? self
			 : self   ? (int64_t)strlen(text)
				  : kernel_result(readlinkat(call->pins[0].object, "", text, room));
	return length < 0 ? length : on_behalf_write(call, buffer, text, (size_t)length, length);
}

/* ------------------------------------------------------------------ attributes */

static int64_t access_pin(const struct on_behalf_call *call, int mode, int flags)
{
	/*
	 * access(2) checks the real user. With our own identity the kernel does so itself; with an assumed one it needs
	 * AT_EACCESS.
	 */
	int eaccess = call->as_tracee ? AT_EACCESS : flags & AT_EACCESS;
	return kernel_result(syscall(SYS_faccessat2, call->pins[0].object, "", mode, AT_EMPTY_PATH | eaccess));
}

static int64_t change_mode(const struct on_behalf_call *call, mode_t mode)
{
	char path[OWN_FD_PATH];
	struct stat info;
	if (fstat(call->pins[0].object, &info) == 0 && S_ISLNK(info.st_mode))
		return -EOPNOTSUPP;
	return kernel_result(syscall(SYS_fchmodat, AT_FDCWD, as_path(&call->pins[0], path), mode));
}

static int64_t change_owner(const struct on_behalf_call *call, int uid, int gid)
{
	return kernel_result(syscall(SYS_fchownat, call->pins[0].object, "", (uid_t)call->args[uid], (gid_t)call->args[gid],
				     AT_EMPTY_PATH));
}

/* Without a path the call is about the descriptor itself. The kernel takes no flags then, and no O_PATH descriptor. */
static int64_t apply_times(const struct on_behalf_call *call, const struct timespec *times)
{
	int bare = (call->nr == SYS_utimensat || call->nr == SYS_futimesat) && call->args[1] == 0;
	int flags = !bare ? AT_EMPTY_PATH : call->nr == SYS_utimensat ? (int)call->args[3] : 0;
	return kernel_result(syscall(SYS_utimensat, call->pins[0].object, bare ? NULL : "", times, flags));
}

static int64_t set_times(const struct on_behalf_call *call, int argument)
{
	struct timespec times[2];
	uint64_t at = call->args[argument];
	if (at == 0)
		return apply_times(call, NULL);
	if (call->nr == SYS_utime) {
		struct utimbuf given;
		if (on_behalf_read(call, at, &given, sizeof given) < 0)
			return -EFAULT;
		times[0] = (struct timespec){ given.actime, 0 };
		times[1] = (struct timespec){ given.modtime, 0 };
	} else if (call->nr == SYS_utimensat) {
		if (on_behalf_read(call, at, times, sizeof times) < 0)
			return -EFAULT;
	} else {
		struct timeval given[2];
		if (on_behalf_read(call, at, given, sizeof given) < 0)
			return -EFAULT;
		for (int i = 0; i < 2; i++) {
			if (given[i].tv_usec < 0 || given[i].tv_usec >= 1000000)
				return -EINVAL;
			times[i] = (struct timespec){ given[i].tv_sec, given[i].tv_usec * 1000 };
		}
	}
	return apply_times(call, times);
}

static int64_t file_handle(const struct on_behalf_call *call)
{
	struct {
		unsigned int bytes;
		int type;
		uint8_t handle[128];
	} handle;
	int mount = 0;
	if (on_behalf_read(call, call->args[2], &handle.bytes, sizeof handle.bytes) < 0)
		return -EFAULT;
	if (handle.bytes > sizeof handle.handle)
		return -EINVAL;
	int64_t result = kernel_result(syscall(SYS_name_to_handle_at, call->pins[0].object, "", &handle, &mount,
					       ((int)call->args[4] & ~AT_SYMLINK_FOLLOW) | AT_EMPTY_PATH));
	if (result < 0 && result != -EOVERFLOW)
		return result;
	size_t length = 8 + (result < 0 ? 0 : handle.bytes);
	if (on_behalf_write(call, 3, &mount, sizeof mount, 0) < 0)
		return -EFAULT;
	return on_behalf_write(call, 2, &handle, length, result);
}

static int64_t watch_by_fanotify(const struct on_behalf_call *call)
{
	char path[64];
	int fd = copy_tracee_fd(call->tid, (int)call->args[0]);
	if (fd < 0)
		return fd;
	int64_t result = kernel_result(fanotify_mark(fd, (unsigned int)call->args[1] & ~(unsigned int)FAN_MARK_DONT_FOLLOW,
						     call->args[2], AT_FDCWD, as_path(&call->pins[0], path)));
	close(fd);
	return result;
}

static int64_t watch(const struct on_behalf_call *call)
{
	char path[OWN_FD_PATH];
	int fd = copy_tracee_fd(call->tid, (int)call->args[0]);
	if (fd < 0)
		return fd;
	int64_t result = kernel_result(inotify_add_watch(fd, as_path(&call->pins[0], path),
							 (uint32_t)call->args[2] & ~(uint32_t)IN_DONT_FOLLOW));
	close(fd);
	return result;
}

/* ------------------------------------------------------------------ entries of folders */

static int64_t make_link(const struct on_behalf_call *call)
{
	const struct pin *from = &call->pins[0], *to = &call->pins[1];
	char path[OWN_FD_PATH];
	struct stat info;
	int known = fstat(from->object, &info) == 0;
	if (known && S_ISLNK(info.st_mode) && from->parent >= 0)
		return kernel_result(linkat(from->parent, from->name, to->parent, to->name, 0));
	return kernel_result(linkat(AT_FDCWD, as_path(from, path), to->parent, to->name, AT_SYMLINK_FOLLOW));
}

static int64_t make_symlink(const struct on_behalf_call *call, int argument)
{
	char text[PATH_MAX];
	int truncated;
	ssize_t length = on_behalf_read_string(call, argument, text, sizeof text, &truncated);
	if (length < 0 || truncated)
		return length < 0 ? length : -ENAMETOOLONG;
	return kernel_result(symlinkat(text, call->pins[0].parent, call->pins[0].name));
}

static int64_t rename_pins(const struct on_behalf_call *call, unsigned int flags)
{
	const struct pin *from = &call->pins[0], *to = &call->pins[1];
	return kernel_result(syscall(SYS_renameat2, from->parent, from->name, to->parent, to->name, flags));
}

/* ------------------------------------------------------------------ limits */

/* Sets the caller's limits by prlimit(2). `old` is the argument that gets the former limits, or 0. */
static int64_t set_limit(const struct on_behalf_call *call, int resource, uint64_t at, int old)
{
	struct rlimit given, before;
	if (at != 0 && on_behalf_read(call, at, &given, sizeof given) < 0)
		return -EFAULT;
	int64_t result = kernel_result(prlimit(call->tid, (__rlimit_resource_t)resource, at ? &given : NULL, &before));
	return result < 0 || old == 0 || call->args[old] == 0 ? result : on_behalf_write(call, old, &before, sizeof before, 0);
}

/* ------------------------------------------------------------------ dispatch */

int64_t on_behalf_file(const struct on_behalf_call *call)
{
	const uint64_t *args = call->args;
	const struct pin *pin = call->pins;
	switch (call->nr) {
	case SYS_stat: case SYS_lstat:
		return stat_pin(call, 1, 0);
	case SYS_newfstatat:
		return stat_pin(call, 2, (int)args[3] & AT_NO_AUTOMOUNT);
	case SYS_statx:
		return statx_pin(call);
	case SYS_statfs:
		return statfs_pin(call);
	case SYS_access:
		return access_pin(call, (int)args[1], 0);
	case SYS_faccessat:
		return access_pin(call, (int)args[2], 0);
	case SYS_faccessat2:
		return access_pin(call, (int)args[2], (int)args[3]);
	case SYS_readlink:
		return read_link(call, 1);
	case SYS_readlinkat:
		return read_link(call, 2);
	case SYS_mkdir:
		return kernel_result(mkdirat(pin->parent, pin->name, (mode_t)args[1]));
	case SYS_mkdirat:
		return kernel_result(mkdirat(pin->parent, pin->name, (mode_t)args[2]));
	case SYS_mknod:
		return kernel_result(syscall(SYS_mknodat, pin->parent, pin->name, (mode_t)args[1], (unsigned int)args[2]));
	case SYS_mknodat:
		return kernel_result(syscall(SYS_mknodat, pin->parent, pin->name, (mode_t)args[2], (unsigned int)args[3]));
	case SYS_unlink:
		return kernel_result(unlinkat(pin->parent, pin->name, 0));
	case SYS_unlinkat:
		return kernel_result(unlinkat(pin->parent, pin->name, (int)args[2]));
	case SYS_rmdir:
		return kernel_result(unlinkat(pin->parent, pin->name, AT_REMOVEDIR));
	case SYS_rename: case SYS_renameat:
		return rename_pins(call, 0);
	case SYS_renameat2:
		return rename_pins(call, (unsigned int)args[4]);
	case SYS_link: case SYS_linkat:
		return make_link(call);
	case SYS_symlink: case SYS_symlinkat:
		return make_symlink(call, 0);
	case SYS_chmod:
		return change_mode(call, (mode_t)args[1]);
	case SYS_fchmodat: case SYS_fchmodat2:
		return change_mode(call, (mode_t)args[2]);
	case SYS_chown: case SYS_lchown:
		return change_owner(call, 1, 2);
	case SYS_fchownat:
		return change_owner(call, 2, 3);
	case SYS_truncate: {
		char path[OWN_FD_PATH];
		return on_behalf_exceeds_file_limit(call, (int64_t)args[1])
			       ? -EFBIG
			       : kernel_result(truncate(as_path(pin, path), (off_t)args[1]));
	}
	case SYS_utime: case SYS_utimes:
		return set_times(call, 1);
	case SYS_futimesat: case SYS_utimensat:
		return set_times(call, 2);
	case SYS_setxattr: case SYS_lsetxattr: case SYS_getxattr: case SYS_lgetxattr: case SYS_listxattr:
	case SYS_llistxattr: case SYS_removexattr: case SYS_lremovexattr:
		return on_behalf_xattr(call);
	case SYS_name_to_handle_at:
		return file_handle(call);
	case SYS_inotify_add_watch:
		return watch(call);
	case SYS_fanotify_mark:
		return watch_by_fanotify(call);
	case SYS_setrlimit:
		return set_limit(call, (int)args[0], args[1], 0);
	case SYS_prlimit64:
		return set_limit(call, (int)args[1], args[2], 3);
	default:
		return -ENOSYS;
	}
}
