/*
 * A thread or process that is born while its parent shares a CPU with the broker (fastpath/cpu-affinity.c) would inherit
 * that one CPU. It must not run so: it gets the CPUs that its parent may use otherwise.
 */
#define _GNU_SOURCE
#include "doors.h"

enum { TRIES = 10000 };

int cpu_sharing_is_inherited(struct cpu_sharing_state *state, pid_t child)
{
	cpu_set_t its;
	return state != NULL && atomic_load(&state->used) && sched_getaffinity(child, sizeof its, &its) == 0 &&
	       CPU_COUNT(&its) == 1;
}

/* The CPUs that a thread may use when it does not share one with the broker. */
static int where_it_may_run(struct cpu_sharing_state *state, pid_t tid, cpu_set_t *its)
{
	for (int i = 0; i < TRIES; i++) {
		unsigned int turn = atomic_load(&state->turn);
		int beside = state->tid_beside == tid;
		*its = state->its_cpus;
		atomic_thread_fence(memory_order_acquire);
		if (turn % 2 == 0 && atomic_load(&state->turn) == turn)
			return beside || sched_getaffinity(tid, sizeof *its, its) == 0;
	}
	return sched_getaffinity(0, sizeof *its, its) == 0; /* the broker was interrupted while it wrote */
}

void cpu_sharing_undo_inherited(struct cpu_sharing_state *state, pid_t parent, pid_t child)
{
	cpu_set_t its;
	if (cpu_sharing_is_inherited(state, child) && where_it_may_run(state, parent, &its))
		sched_setaffinity(child, sizeof its, &its);
}
