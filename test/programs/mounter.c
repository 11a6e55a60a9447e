/* Changes mounts in a namespace of its own, in every way that needs no file system to be there; says what came of each. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void tell(const char *way, long result)
{
	printf("%s mount %s\n", way, result < 0 ? strerrorname_np(errno) : "ok");
}

int main(void)
{
	struct mount_attr attributes = { .attr_set = MOUNT_ATTR_NOSUID };
	if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return 1;
	tell("mount_setattr", syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &attributes, sizeof attributes));
	tell("open_tree_attr", syscall(467, AT_FDCWD, "/", 0, &attributes, sizeof attributes));
	int fs = (int)syscall(SYS_fsopen, "tmpfs", 0);
	tell("fsopen", fs);
	tell("fspick", syscall(SYS_fspick, AT_FDCWD, "/", 0));
	return 0;
}
