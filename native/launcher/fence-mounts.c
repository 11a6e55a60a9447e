/* The fence's mounts: which files the program sees read-only, private, hidden, or unchanged. */
#define _GNU_SOURCE
#include "fence.h"
#include "../kernel/mount-api.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char TMPFS_OF_NOTHING[] = "mode=0555,size=4k,nr_inodes=2";

static int change_attributes(int folder, const char *path, unsigned int flags, struct attributes attributes)
{
	return (int)syscall(SYS_mount_setattr, folder, path, flags, &attributes, sizeof attributes);
}

static int set_attributes(int folder, const char *path, unsigned int flags, uint64_t set)
{
	return change_attributes(folder, path, flags, (struct attributes){ .set = set });
}

static int make_read_only(int folder, const char *path, unsigned int flags)
{
	return set_attributes(folder, path, flags, ATTR_RDONLY);
}

static int clone_tree(const char *path)
{
	return (int)syscall(SYS_open_tree, AT_FDCWD, path, TREE_CLONE | TREE_CLOEXEC | RECURSIVE);
}

/* Mounts made here do not appear outside, and mounts made outside do not appear here. */
static int leave_propagation(void)
{
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

int try_mounts(void)
{
	int tree = -1;
	if (leave_propagation() < 0 || (tree = clone_tree("/dev/null")) < 0 ||
	    make_read_only(AT_FDCWD, "/", RECURSIVE) < 0 ||
	    mount("tmpfs", "/dev", "tmpfs", MS_NOSUID, TMPFS_OF_NOTHING) < 0)
		return errno;
	return 0;
}

int try_proc(void)
{
	return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0 ? errno : 0;
}

/* Creates a mount point, with the folders above it, where the file system permits. `folder`: a folder or a file. */
static int make_place(const char *path, int folder)
{
	char name[4096];
	struct stat info;
	if (stat(path, &info) == 0)
		return 0;
	if (strlen(path) >= sizeof name) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(name, path);
	for (char *slash = strchr(name + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(name, 0755) < 0 && errno != EEXIST)
			return -1;
		*slash = '/';
	}
	if (folder)
		return mkdir(name, 0755) < 0 && errno != EEXIST ? -1 : 0;
	int fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
	if (fd < 0)
		return -1;
	return close(fd);
}

static int expose(int tree, const char *path, int read_only)
{
	struct stat info;
	if (tree < 0) {
		errno = -tree;
		return -1;
	}
	if (fstat(tree, &info) < 0 || (read_only && make_read_only(tree, "", AT_EMPTY_PATH | RECURSIVE) < 0))
		return -1;
	return make_place(path, S_ISDIR(info.st_mode)) < 0 ? -1 : put_tree(tree, path);
}

/*
 * An empty file in a file system of its own, read-only: writing to it fails, where a device would take what is written and
 * say nothing. Kernels before 6.15 cannot clone a file of a mount that has no place yet.
 */
static int clone_empty_file(void)
{
	int tree = -1, file = -1, mounted = -1, context = (int)syscall(SYS_fsopen, "tmpfs", CONTEXT_CLOEXEC);
	if (context >= 0 && syscall(SYS_fsconfig, context, CONTEXT_CREATE, NULL, NULL, 0) == 0)
		mounted = (int)syscall(SYS_fsmount, context, CONTEXT_CLOEXEC, ATTR_NOSUID | ATTR_NODEV | ATTR_NOEXEC);
	if (mounted >= 0)
		file = openat(mounted, "nothing", O_CREAT | O_EXCL | O_RDONLY | O_CLOEXEC, 0444);
	if (file >= 0)
		tree = (int)syscall(SYS_open_tree, mounted, "nothing", TREE_CLONE | TREE_CLOEXEC);
	if (tree >= 0 && make_read_only(tree, "", AT_EMPTY_PATH) < 0) {
		close(tree);
		tree = -1;
	}
	const int opened[] = { file, mounted, context };
	for (size_t i = 0; i < sizeof opened / sizeof opened[0]; i++)
		if (opened[i] >= 0)
			close(opened[i]);
	return tree;
}

static int hide(const char *path)
{
	struct stat info;
	if (lstat(path, &info) < 0)
		return -1;
	if (S_ISDIR(info.st_mode))
		return mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, TMPFS_OF_NOTHING);
	int tree = clone_empty_file();
	if (tree < 0)
		tree = clone_tree("/dev/null");
	return tree < 0 ? -1 : put_tree(tree, path);
}

/* Mounts what is at the path over itself. */
static int put_again(const char *path, int read_only)
{
	int tree = clone_tree(path);
	if (tree < 0 || (read_only && make_read_only(tree, "", AT_EMPTY_PATH | RECURSIVE) < 0))
		return -1;
	return put_tree(tree, path);
}

static int mount_at(const char *kind, const char *path, unsigned long flags, const char *options)
{
	return make_place(path, 1) < 0 ? -1 : mount(kind, path, kind, MS_NOSUID | flags, options);
}

static int carry_out(struct plan *plan, const struct plan_mount *step, int tree)
{
	const char *path = (char *)plan + step->path, *data = step->data ? (char *)plan + step->data : NULL;
	switch ((enum mount_kind)step->kind) {
	case MOUNT_READ_ONLY:
		return make_read_only(AT_FDCWD, path, RECURSIVE);
	case MOUNT_SEAL:
		return make_read_only(AT_FDCWD, path, 0);
	case MOUNT_EXPOSE:
	case MOUNT_EXPOSE_READ_ONLY:
		return expose(tree, path, step->kind == MOUNT_EXPOSE_READ_ONLY);
	case MOUNT_TMPFS:
		return mount_at("tmpfs", path, MS_NODEV, data);
	case MOUNT_PROC:
		return fence_has(plan, FENCE_PID_NAMESPACE) ? mount_at("proc", path, MS_NODEV | MS_NOEXEC, NULL) : 0;
	case MOUNT_DEVPTS:
		return mount_at("devpts", path, MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620");
	case MOUNT_MQUEUE:
		return fence_has(plan, FENCE_IPC_NAMESPACE) ? mount_at("mqueue", path, MS_NODEV | MS_NOEXEC, NULL) : 0;
	case MOUNT_LINK:
		return symlink(data, path);
	case MOUNT_HIDE:
		return hide(path);
	case MOUNT_PROTECT:
	case MOUNT_PIN:
		return put_again(path, step->kind == MOUNT_PROTECT);
	case MOUNT_NO_DEVICES:
		return 0; /* it came first */
	}
	errno = EINVAL;
	return -1;
}

static int is_kept(const struct plan_mount *step)
{
	return step->kind == MOUNT_EXPOSE || step->kind == MOUNT_EXPOSE_READ_ONLY;
}

/* Before later steps change anything. Trees that are taken after MOUNT_NO_DEVICES have no devices either. */
static int take_tree(struct plan *plan, const struct plan_mount *step)
{
	const char *path = (char *)plan + step->path;
	if (step->kind == MOUNT_NO_DEVICES && set_attributes(AT_FDCWD, path, RECURSIVE, ATTR_NODEV) < 0)
		fence_fail(plan, STEP_MOUNT, step->path);
	int tree = is_kept(step) ? clone_tree(path) : -ENOENT;
	return tree == -1 ? -errno : tree;
}

void arrange_mounts(struct plan *plan)
{
	const struct plan_mount *steps = (const struct plan_mount *)((char *)plan + plan->fence.mounts);
	uint32_t count = plan->fence.mount_count;
	int *trees = calloc((size_t)count + 1, sizeof *trees);
	if (trees == NULL || leave_propagation() < 0)
		fence_fail(plan, STEP_FENCE, FENCE_MOUNT_NAMESPACE);
	mode_t mask = umask(022);
	for (uint32_t i = 0; i < count; i++)
		trees[i] = take_tree(plan, &steps[i]);
	for (uint32_t i = 0; i < count; i++) {
		if (carry_out(plan, &steps[i], trees[i]) < 0 && !(errno == ENOENT && steps[i].flags & MOUNT_IF_THERE))
			fence_fail(plan, STEP_MOUNT, steps[i].path);
		if (trees[i] >= 0)
			close(trees[i]);
	}
	free(trees);
	umask(mask);
}

/* ------------------------------------------------------------------ while the program runs */

/* Mounts below the path stay as they are: some may have been read-only before. */
static int open_place(const char *path)
{
	int tree = clone_tree(path);
	if (tree < 0)
		return -1;
	int put = change_attributes(tree, "", AT_EMPTY_PATH, (struct attributes){ .clear = ATTR_RDONLY }) < 0
			  ? -1 : put_tree(tree, path);
	int failed = errno;
	close(tree);
	errno = failed;
	return put;
}

static int change_mount(const struct plan *plan, const struct plan_mount *step)
{
	const char *path = (const char *)plan + step->path;
	return step->kind == MOUNT_OPEN ? open_place(path) : make_read_only(AT_FDCWD, path, 0);
}

static void undo_change(const struct plan *plan, const struct plan_mount *step)
{
	const char *path = (const char *)plan + step->path;
	if (step->kind == MOUNT_OPEN)
		umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
	else
		change_attributes(AT_FDCWD, path, 0, (struct attributes){ .clear = ATTR_RDONLY });
}

int change_mounts(const struct plan *plan)
{
	const struct plan_mount *steps = (const struct plan_mount *)((const char *)plan + plan->fence.mounts);
	for (uint32_t i = 0; i < plan->fence.mount_count; i++) {
		if (change_mount(plan, &steps[i]) == 0)
			continue;
		int failed = errno;
		while (i-- > 0)
			undo_change(plan, &steps[i]);
		errno = failed;
		return -1;
	}
	return 0;
}
