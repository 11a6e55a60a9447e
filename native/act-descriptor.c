/* On-behalf acts on descriptors: the pin is the descriptor that was decided on, whatever has its number by now. */
#define _GNU_SOURCE
#include "act.h"
#include "identity.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { MOST_OF_IOCTL = 64 };

int act_grows_too_large(const struct act *act, int64_t size)
{
	struct rlimit limit;
	struct stat info;
	identity_pause();
	int known = prlimit(act->tid, RLIMIT_FSIZE, NULL, &limit) == 0;
	if (identity_resume() < 0 || !known || limit.rlim_cur == RLIM_INFINITY || size < 0 || (uint64_t)size <= limit.rlim_cur ||
	    fstat(act->pins[0].object, &info) < 0 || !S_ISREG(info.st_mode) || size <= info.st_size)
		return 0;
	syscall(SYS_tkill, act->tid, SIGXFSZ);
	return 1;
}

static int64_t set_size(const struct act *act, int fd)
{
	return act_grows_too_large(act, (int64_t)act->args[1]) ? -EFBIG : act_result(ftruncate(fd, (off_t)act->args[1]));
}

static int64_t allocate(const struct act *act, int fd)
{
	int64_t from = (int64_t)act->args[2], length = (int64_t)act->args[3], end;
	int grows = !((int)act->args[1] & FALLOC_FL_KEEP_SIZE) && !__builtin_add_overflow(from, length, &end);
	return grows && act_grows_too_large(act, end) ? -EFBIG
						      : act_result(fallocate(fd, (int)act->args[1], from, length));
}

static int64_t extended_attribute(const struct act *act, int fd)
{
	char name[XATTR_NAME_MAX + 2];
	int64_t failed = act_take_name(act, 1, name, sizeof name);
	size_t size = act->args[3];
	if (failed)
		return failed;
	if (act->nr == SYS_fremovexattr)
		return act_result(fremovexattr(fd, name));
	if (size > XATTR_SIZE_MAX)
		return -E2BIG;
	uint8_t *value = malloc(size + 1);
	if (value == NULL)
		return -ENOMEM;
	int64_t result = size > 0 && act_take(act, act->args[2], value, size) < 0
				 ? -EFAULT
				 : act_result(fsetxattr(fd, name, value, size, (int)act->args[4]));
	free(value);
	return result;
}

/* Those that change a file's attributes, whose argument is a small structure. */
static int64_t control(const struct act *act, int fd)
{
	uint8_t argument[MOST_OF_IOCTL] = { 0 };
	unsigned int command = (unsigned int)act->args[1];
	/* The size of some is said to be that of a long, and is that of an int. */
	size_t size = _IOC_SIZE(command) == sizeof(long) ? sizeof(int) : _IOC_SIZE(command);
	if (size > sizeof argument)
		return -ENOTTY;
	if (act_take(act, act->args[2], argument, size) < 0)
		return -EFAULT;
	return act_result(ioctl(fd, command, argument));
}

int64_t act_on_descriptor(const struct act *act)
{
	int fd = act->pins[0].object;
	switch (act->nr) {
	case SYS_fchmod:
		return act_result(fchmod(fd, (mode_t)act->args[1]));
	case SYS_fchown:
		return act_result(fchown(fd, (uid_t)act->args[1], (gid_t)act->args[2]));
	case SYS_ftruncate:
		return set_size(act, fd);
	case SYS_fallocate:
		return allocate(act, fd);
	case SYS_fsetxattr: case SYS_fremovexattr:
		return extended_attribute(act, fd);
	case SYS_ioctl:
		return control(act, fd);
	default:
		return -ENOSYS;
	}
}
