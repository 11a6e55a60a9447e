/*
 * Masks: files that the program does not find, and folders that it finds empty. A mask is a symbolic link to nothing,
 * mounted over the file: every open, by any name and any process of the run, ends with the errno of its rule. A folder is
 * covered by one that cannot be listed, with such a link for each file that is known in it.
 *
 * Following a link changes its access time, as does listing a folder. So the time tells that the program has looked for it.
 */
#define _GNU_SOURCE
#include "masks.h"
#include "fence.h"
#include "../kernel/mount-api.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAME_SIZE = 4096 + 16, SEARCH_ONLY = 0111 };
/* Any folder: the file system of the masks covers it for a moment, because older kernels clone only what has a place. */
static const char LENT_PLACE[] = "/proc";

static const struct plan_mask *masks_of(const struct plan *plan)
{
	return (const struct plan_mask *)((const char *)plan + plan->fence.masks);
}

static const char *text_at(const struct plan *plan, uint32_t offset) { return (const char *)plan + offset; }

/* The name in the masks' own file system: its number, or that of its folder and the path below it. */
static int mask_name(const struct plan *plan, uint32_t i, char name[NAME_SIZE])
{
	const struct plan_mask *mask = &masks_of(plan)[i];
	int length = mask->folder ? snprintf(name, NAME_SIZE, "%u/%s", mask->folder - 1, text_at(plan, mask->path))
				  : snprintf(name, NAME_SIZE, "%u", i);
	return length < NAME_SIZE ? 0 : -1;
}

static int make_folders_above(int masks, char *name)
{
	for (char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		int failed = mkdirat(masks, name, 0700) < 0 && errno != EEXIST;
		*slash = '/';
		if (failed)
			return -1;
	}
	return 0;
}

static int make_mask(const struct plan *plan, int masks, uint32_t i)
{
	static const struct timespec never[2] = { { 0, 0 }, { 0, 0 } };
	const struct plan_mask *mask = &masks_of(plan)[i];
	char name[NAME_SIZE];
	if (mask_name(plan, i, name) < 0) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (mask->target == 0 ? mkdirat(masks, name, 0700) < 0
			      : make_folders_above(masks, name) < 0 || symlinkat(text_at(plan, mask->target), masks, name) < 0)
		return -1;
	return utimensat(masks, name, never, AT_SYMLINK_NOFOLLOW);
}

/* The folders that were made for a file in a folder. The innermost comes first: the others must still be open. */
static int close_folders_above(int masks, char *name)
{
	for (char *slash = strrchr(name, '/'); slash != NULL; slash = strrchr(name, '/')) {
		*slash = 0;
		if (fchmodat(masks, name, SEARCH_ONLY, 0) < 0 && errno != EACCES)
			return -1;
	}
	return 0;
}

static int close_folders(const struct plan *plan, int masks)
{
	char name[NAME_SIZE];
	for (uint32_t i = plan->fence.mask_count; i-- > 0;) {
		const struct plan_mask *mask = &masks_of(plan)[i];
		if (mask->order != MASK_PUT || mask_name(plan, i, name) < 0)
			continue;
		if (mask->folder ? close_folders_above(masks, name) < 0
				 : mask->target == 0 && fchmodat(masks, name, SEARCH_ONLY, 0) < 0)
			return -1;
	}
	return 0;
}

static int enter(int space)
{
	return space < 0 ? 0 : setns(space, CLONE_NEWNS);
}

/* A file that is gone by now needs no mask. */
static int put_mask(const struct plan *plan, const struct mask_places *at, uint32_t i)
{
	char name[NAME_SIZE];
	mask_name(plan, i, name);
	if (enter(at->workshop) < 0)
		return -1;
	int tree = (int)syscall(SYS_open_tree, at->masks, name, TREE_CLONE | TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
	if (tree < 0)
		return -1;
	int put = enter(at->target) < 0 ? -1 : put_tree(tree, text_at(plan, masks_of(plan)[i].path)), failed = errno;
	close(tree);
	errno = failed;
	return put < 0 && errno != ENOENT && errno != ENOTDIR ? -1 : 0;
}

static int make_file_system(void)
{
	int masks = -1, context = (int)syscall(SYS_fsopen, "tmpfs", CONTEXT_CLOEXEC);
	if (context >= 0 && syscall(SYS_fsconfig, context, CONTEXT_STRING, "mode", "0755", 0) == 0 &&
	    syscall(SYS_fsconfig, context, CONTEXT_CREATE, NULL, NULL, 0) == 0)
		masks = (int)syscall(SYS_fsmount, context, CONTEXT_CLOEXEC,
				     ATTR_NOSUID | ATTR_NODEV | ATTR_NOEXEC | ATTR_STRICTATIME);
	if (context >= 0)
		close(context);
	return masks;
}

static int is_put(const struct plan_mask *mask) { return mask->order == MASK_PUT && !mask->folder; }

/* Uncovers the first `count` again. */
static void undo(const struct plan *plan, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (is_put(&masks_of(plan)[i]))
			umount2(text_at(plan, masks_of(plan)[i].path), MNT_DETACH | UMOUNT_NOFOLLOW);
}

void remove_masks(const struct plan *plan)
{
	undo(plan, plan->fence.mask_count);
}

int put_masks(struct plan *plan, struct mask_places *at)
{
	uint32_t count = plan->fence.mask_count;
	at->masks = make_file_system();
	if (at->masks < 0 || put_tree(at->masks, LENT_PLACE) < 0)
		return -1;
	for (uint32_t i = 0; i < count; i++)
		if (masks_of(plan)[i].order == MASK_PUT && make_mask(plan, at->masks, i) < 0)
			return -1;
	if (close_folders(plan, at->masks) < 0)
		return -1;
	for (uint32_t i = 0; i < count; i++)
		if (is_put(&masks_of(plan)[i]) && put_mask(plan, at, i) < 0) {
			int failed = errno;
			if (enter(at->target) == 0)
				undo(plan, i);
			errno = failed;
			return -1;
		}
	return enter(at->workshop) < 0 ? -1 : umount2(LENT_PLACE, MNT_DETACH);
}

int arrange_masks(struct plan *plan)
{
	struct mask_places here = { .masks = -1, .workshop = -1, .target = -1 };
	if (fence_wants(plan, FENCE_VIEW))
		fence_settle(plan, FENCE_VIEW, plan->fence.mask_count > 0 && put_masks(plan, &here) < 0 ? errno : 0);
	return here.masks;
}

void note_masks(struct plan *plan, int masks)
{
	uint8_t *seen = (uint8_t *)plan + plan->fence.masks_seen;
	char name[NAME_SIZE];
	struct stat info;
	for (uint32_t i = 0; masks >= 0 && i < plan->fence.mask_count; i++)
		if (mask_name(plan, i, name) == 0 && fstatat(masks, name, &info, AT_SYMLINK_NOFOLLOW) == 0)
			seen[i] = info.st_atim.tv_sec != 0;
}

/* Where a mask is in the program's namespace; of a file in a folder: below the folder's mask. */
static int mask_path(const struct plan *plan, uint32_t i, char path[2 * NAME_SIZE])
{
	const struct plan_mask *mask = &masks_of(plan)[i];
	int length = mask->folder ? snprintf(path, 2 * NAME_SIZE, "%s/%s", text_at(plan, masks_of(plan)[mask->folder - 1].path),
					     text_at(plan, mask->path))
				  : snprintf(path, 2 * NAME_SIZE, "%s", text_at(plan, mask->path));
	return length < 2 * NAME_SIZE ? 0 : -1;
}

void look_at_masks(struct plan *plan)
{
	uint8_t *seen = (uint8_t *)plan + plan->fence.masks_seen;
	char path[2 * NAME_SIZE];
	struct stat info;
	for (uint32_t i = 0; i < plan->fence.mask_count; i++)
		if (masks_of(plan)[i].order != MASK_PUT && mask_path(plan, i, path) == 0 && lstat(path, &info) == 0)
			seen[i] = info.st_atim.tv_sec != 0;
}

/* One that was moved along with a folder stays: it hides what it hid before. */
void take_masks(struct plan *plan)
{
	for (uint32_t i = 0; i < plan->fence.mask_count; i++)
		if (masks_of(plan)[i].order == MASK_TAKE && !masks_of(plan)[i].folder)
			umount2(text_at(plan, masks_of(plan)[i].path), MNT_DETACH | UMOUNT_NOFOLLOW);
}
