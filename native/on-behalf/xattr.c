/* On-behalf calls on extended attributes, of a pinned path or of a pinned descriptor: xattr(7). */
#define _GNU_SOURCE
#include "on-behalf.h"
#include "../kernel/procfs.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

/* The arguments of all of them: path or descriptor, name (except in a list), value, its size, flags. */
enum { NAME_AT = 1, VALUE_AT = 2, FLAGS_AT = 4 };

static int64_t read_name(const struct on_behalf_call *call, char *name, size_t size)
{
	int truncated;
	ssize_t length = on_behalf_read_string(call, NAME_AT, name, size, &truncated);
	return length < 0 ? length : truncated || length == 0 ? -ERANGE : 0;
}

static int64_t remove_attribute(const struct on_behalf_call *call, const char *path, const char *name)
{
	return kernel_result(call->nr == SYS_fremovexattr ? fremovexattr(call->pins[0].object, name) : removexattr(path, name));
}

static int64_t set_attribute(const struct on_behalf_call *call, const char *path, const char *name, uint8_t *value, size_t size)
{
	int flags = (int)call->args[FLAGS_AT];
	if (size > 0 && on_behalf_read(call, call->args[VALUE_AT], value, size) < 0)
		return -EFAULT;
	return kernel_result(call->nr == SYS_fsetxattr ? fsetxattr(call->pins[0].object, name, value, size, flags)
						       : setxattr(path, name, value, size, flags));
}

/* `name` NULL: the names of all attributes. */
static int64_t get_attribute(const struct on_behalf_call *call, const char *path, const char *name, uint8_t *value, size_t size)
{
	int64_t result = kernel_result(name == NULL ? listxattr(path, (char *)value, size) : getxattr(path, name, value, size));
	if (result <= 0 || size == 0)
		return result;
	return on_behalf_write(call, name == NULL ? VALUE_AT - 1 : VALUE_AT, value, (size_t)result, result);
}

int64_t on_behalf_xattr(const struct on_behalf_call *call)
{
	char path[OWN_FD_PATH], name[XATTR_NAME_MAX + 2];
	int lists = call->nr == SYS_listxattr || call->nr == SYS_llistxattr;
	int gets = call->nr == SYS_getxattr || call->nr == SYS_lgetxattr;
	int removes = call->nr == SYS_removexattr || call->nr == SYS_lremovexattr || call->nr == SYS_fremovexattr;
	int64_t result = lists ? 0 : read_name(call, name, sizeof name);
	own_fd_path(call->pins[0].object, path);
	if (result || removes)
		return result ? result : remove_attribute(call, path, name);
	size_t size = call->args[lists ? VALUE_AT : VALUE_AT + 1];
	if (!lists && !gets && size > XATTR_SIZE_MAX)
		return -E2BIG;
	if (size > XATTR_SIZE_MAX)
		size = XATTR_SIZE_MAX;
	uint8_t *value = malloc(size + 1);
	if (value == NULL)
		return -ENOMEM;
	result = lists || gets ? get_attribute(call, path, lists ? NULL : name, value, size)
			       : set_attribute(call, path, name, value, size);
	free(value);
	return result;
}
