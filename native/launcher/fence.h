/* The fence: protections that hold without a decision. The plan says what is to be done (protocol/plan.h). */
#ifndef HERMES_FENCE_H
#define HERMES_FENCE_H

#include "../protocol/plan.h"

#include <sys/types.h>

/* Exits, and writes the reason to the plan. */
void fence_fail(struct plan *plan, enum launch_step step, uint32_t detail);
int fence_wants(const struct plan *plan, enum protection which);
int fence_has(const struct plan *plan, enum protection which);
/* `failed` is 0 or an errno. A required protection that failed ends the launch. */
void fence_settle(struct plan *plan, enum protection which, int failed);

/* fence-rights.c: rights that a process gives up for itself and its descendants */
void join_cgroups(struct plan *plan);
void join_own_keyring(struct plan *plan);
void drop_capabilities(struct plan *plan);
void restrict_by_landlock(struct plan *plan, int proc);

/* fence-namespaces.c */
struct namespaces {
	pid_t init;   /* 0: there is no pid namespace */
	int lifeline; /* closed when init may exit */
	int pids;     /* the pid namespace, held open */
	int masks;    /* the file system of the masks, held open; -1: there is none */
};
void enter_outer_namespaces(struct plan *plan, struct namespaces *made);
void enter_inner_namespaces(struct plan *plan, struct namespaces *made);
/* As fork(); the child is in the pid namespace. */
pid_t fork_inside(struct namespaces *made);

/* fence-mounts.c */
void arrange_mounts(struct plan *plan);
/* Carries out the plan's `enum mount_change`, all or none. 0, or -1 and an errno. */
int change_mounts(const struct plan *plan);
/* Whether the mounts of a fence can be made here: 0 or an errno. */
int try_mounts(void);
int try_proc(void);

#endif
