/* See cpu-affinity.c. */
#ifndef HERMES_CPU_AFFINITY_H
#define HERMES_CPU_AFFINITY_H

#include "../protocol/verdict-cache.h"

#include <sys/types.h>
#include <time.h>

struct cpu_sharing {
	struct cpu_sharing_state *state;
	pid_t self;         /* this thread of the broker */
	pid_t tid;          /* the thread whose calls come one after the other */
	int in_a_row;
	int64_t last;       /* when the last of them came */
	int enough;         /* start to share after this many in a row; more where sharing did not pay off */
	int descriptors;    /* how many the thread got since we share */
	int unwanted;       /* the program chooses CPUs itself, or births are not seen */
	cpu_set_t own_cpus; /* where this thread of the broker may run otherwise */
	timer_t timer;
	int has_timer;
};

/* Call before a descriptor is put into a thread: shares a CPU with that thread if it opens file after file. */
void cpu_sharing_before_descriptor(struct cpu_sharing *c, pid_t tid);
/* A thread makes a call: sharing with any other thread ends. */
void cpu_sharing_on_call(struct cpu_sharing *c, pid_t tid, int nr);
/* A call needs a decision, or has taken long. */
void cpu_sharing_interrupt(struct cpu_sharing *c);
/* Gives both threads back the CPUs that they had. */
void cpu_sharing_stop(struct cpu_sharing *c);

#endif
