/* Changes what a running program sees: a process of its own enters the program's namespaces and leaves at once. */
#define _GNU_SOURCE
#include "view.h"
#include "fence.h"
#include "launcher.h"
#include "masks.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

static int fail(struct plan *plan)
{
	plan->failed_errno = errno;
	plan->failed_step = STEP_MOUNT;
	return 125;
}

/* The masks are made in a mount namespace of our own, so that the program never sees their file system. */
static int open_workshop(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	return open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
}

/* argv: the plan, the program's mount namespace, and its user namespace or -1 */
int view_main(int argc, char **argv)
{
	struct plan *plan = argc == 4 ? map_plan(atoi(argv[1])) : NULL;
	if (plan == NULL)
		return 2;
	struct mask_places at = { .masks = -1, .target = atoi(argv[2]) };
	int user = atoi(argv[3]);
	if ((user >= 0 && setns(user, CLONE_NEWUSER) < 0) || (at.workshop = open_workshop()) < 0)
		return fail(plan);
	if (put_masks(plan, &at) < 0 || setns(at.target, CLONE_NEWNS) < 0)
		return fail(plan);
	if (change_mounts(plan) < 0) {
		int failed = errno;
		remove_masks(plan);
		errno = failed;
		return fail(plan);
	}
	look_at_masks(plan);
	take_masks(plan);
	return 0;
}
