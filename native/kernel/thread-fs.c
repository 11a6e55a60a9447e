/* See thread-fs.h. */
#define _GNU_SOURCE
#include "thread-fs.h"

#include <sched.h>

static __thread int is_own;

int thread_fs_unshare(void)
{
	if (!is_own)
		is_own = unshare(CLONE_FS) == 0;
	return is_own;
}

int thread_fs_is_own(void)
{
	return is_own;
}
