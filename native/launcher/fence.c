/* What all protections of the fence have in common: whether one is wanted, and whether it is in force. */
#define _GNU_SOURCE
#include "fence.h"

#include <errno.h>
#include <unistd.h>

void fence_fail(struct plan *plan, enum launch_step step, uint32_t detail)
{
	plan->failed_errno = errno;
	plan->failed_detail = detail;
	plan->failed_step = step;
	_exit(125);
}

int fence_wants(const struct plan *plan, enum protection which)
{
	return (plan->fence.wanted >> which & 1) != 0;
}

int fence_has(const struct plan *plan, enum protection which)
{
	return (plan->fence.in_force >> which & 1) != 0;
}

void fence_settle(struct plan *plan, enum protection which, int failed)
{
	plan->fence.errnos[which] = failed;
	if (!failed) {
		plan->fence.in_force |= 1u << which;
	} else if (plan->fence.required >> which & 1) {
		errno = failed;
		fence_fail(plan, STEP_FENCE, which);
	}
}
