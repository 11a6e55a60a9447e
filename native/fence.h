/* The fence: protections that hold without anybody being asked. What there is to be done stands in the plan. */
#ifndef HERMES_FENCE_H
#define HERMES_FENCE_H

#include "plan.h"

#include <sys/types.h>

/* Ends the child (or the launcher) and leaves word why in the plan. */
void fence_fail(struct plan *plan, enum launch_step step, uint32_t detail);
int fence_wants(const struct plan *plan, enum protection which);
int fence_has(const struct plan *plan, enum protection which);
/* `failed` is 0 or an errno. A protection that is required and failed ends the launch. */
void fence_settle(struct plan *plan, enum protection which, int failed);

/* confine.c: what a process gives up for itself and for all that it becomes */
void join_cgroups(struct plan *plan);
void join_own_keyring(struct plan *plan);
void drop_capabilities(struct plan *plan);
void restrict_by_landlock(struct plan *plan, int proc);

/* namespace.c: the launcher's part, then the program's */
struct namespaces {
	pid_t init;   /* 0: there is no pid namespace */
	int lifeline; /* closed when the namespace may end */
	int pids;     /* the pid namespace, held open */
};
void enter_outer_namespaces(struct plan *plan, struct namespaces *made);
void enter_inner_namespaces(struct plan *plan, struct namespaces *made);
/* As fork(); the child is in the pid namespace. */
pid_t fork_inside(struct namespaces *made);

/* mount.c */
void arrange_mounts(struct plan *plan);
/* Whether the kinds of mounts that a fence is made of can be made here: 0 or an errno. */
int try_mounts(void);
int try_proc(void);

#endif
