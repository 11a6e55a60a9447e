/*
 * On-behalf calls on descriptors. The pin is the descriptor that was decided on, even if its number refers to another file
 * by now.
 */
#define _GNU_SOURCE
#include "on-behalf.h"
#include "../tracee/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_IOCTL_SIZE = 64 };

int on_behalf_exceeds_file_limit(const struct on_behalf_call *call, int64_t size)
{
	struct rlimit limit;
	struct stat info;
	identity_pause();
	int known = prlimit(call->tid, RLIMIT_FSIZE, NULL, &limit) == 0;
	if (identity_resume() < 0 || !known || limit.rlim_cur == RLIM_INFINITY || size < 0 || (uint64_t)size <= limit.rlim_cur ||
	    fstat(call->pins[0].object, &info) < 0 || !S_ISREG(info.st_mode) || size <= info.st_size)
		return 0;
	syscall(SYS_tkill, call->tid, SIGXFSZ);
	return 1;
}

static int64_t set_size(const struct on_behalf_call *call, int fd)
{
	off_t size = (off_t)call->args[1];
	return on_behalf_exceeds_file_limit(call, size) ? -EFBIG : kernel_result(ftruncate(fd, size));
}

static int64_t allocate(const struct on_behalf_call *call, int fd)
{
	int64_t from = (int64_t)call->args[2], length = (int64_t)call->args[3], end;
	int grows = !((int)call->args[1] & FALLOC_FL_KEEP_SIZE) && !__builtin_add_overflow(from, length, &end);
	return grows && on_behalf_exceeds_file_limit(call, end) ? -EFBIG
						      : kernel_result(fallocate(fd, (int)call->args[1], from, length));
}

/* ioctls that change a file's attributes, and take a small structure. */
static int64_t control(const struct on_behalf_call *call, int fd)
{
	uint8_t argument[MAX_IOCTL_SIZE] = { 0 };
	unsigned int command = (unsigned int)call->args[1];
	/* Some ioctl numbers encode the size of a long, but the kernel takes an int. */
	size_t size = _IOC_SIZE(command) == sizeof(long) ? sizeof(int) : _IOC_SIZE(command);
	if (size > sizeof argument)
		return -ENOTTY;
	if (on_behalf_read(call, call->args[2], argument, size) < 0)
		return -EFAULT;
	return kernel_result(ioctl(fd, command, argument));
}

int64_t on_behalf_descriptor(const struct on_behalf_call *call)
{
	int fd = call->pins[0].object;
	switch (call->nr) {
	case SYS_fchmod:
		return kernel_result(fchmod(fd, (mode_t)call->args[1]));
	case SYS_fchown:
		return kernel_result(fchown(fd, (uid_t)call->args[1], (gid_t)call->args[2]));
	case SYS_ftruncate:
		return set_size(call, fd);
	case SYS_fallocate:
		return allocate(call, fd);
	case SYS_fsetxattr: case SYS_fremovexattr:
		return on_behalf_xattr(call);
	case SYS_ioctl:
		return control(call, fd);
	default:
		return -ENOSYS;
	}
}
