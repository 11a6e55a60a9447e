/* mount_setattr(2), open_tree(2), move_mount(2), fsopen(2): C libraries lack the calls, older headers the constants. */
#ifndef HERMES_MOUNT_API_H
#define HERMES_MOUNT_API_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TREE_CLONE = 1, TREE_CLOEXEC = O_CLOEXEC, RECURSIVE = 0x8000, FROM_EMPTY_PATH = 4 };
enum { ATTR_RDONLY = 1, ATTR_NOSUID = 2, ATTR_NODEV = 4, ATTR_NOEXEC = 8, ATTR_STRICTATIME = 0x20 };
enum { CONTEXT_CLOEXEC = 1, CONTEXT_STRING = 1, CONTEXT_CREATE = 6 };

/* struct mount_attr */
struct attributes {
	uint64_t set;
	uint64_t clear;
	uint64_t propagation;
	uint64_t userns;
};

/* Puts a detached tree at the path. The path may not end in a symbolic link. */
static inline int put_tree(int tree, const char *path)
{
	return (int)syscall(SYS_move_mount, tree, "", AT_FDCWD, path, FROM_EMPTY_PATH);
}

#endif
