/*
 * The verdict cache: kinds of calls, and the paths for which the policies allow them. TypeScript fills it (in the
 * supervisor's session code), and the broker's fast-path threads look up in it and count. The supervisor decides on every
 * call that the cache does not allow. An entry changes only from unknown to allowed, until the cache is cleared.
 * Supervisor and broker map the same memory.
 */
#ifndef HERMES_VERDICT_CACHE_H
#define HERMES_VERDICT_CACHE_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

enum {
	VERDICT_CLASSES = 64,
	VERDICT_STATES = 4096,
	VERDICT_BYTES = 128, /* paths with other bytes are never in the cache */
	VERDICT_START = 1,   /* the automaton's first state; 0: unknown */
	MISSING_PROGRAMS = 256,
};

/* Calls of one system call with the same flags. */
struct verdict_class {
	int32_t nr;
	int32_t flags_at;     /* index of the argument that holds the flags, -1 for none */
	uint32_t flags;
	int32_t dirfd_at;     /* … the folder that the path starts from, -1 for the working directory; or the descriptor */
	int32_t path_at;      /* -1: the call is about a descriptor */
	int32_t null_at;      /* … because this argument, which could be a path, is NULL; -1 for none */
	uint32_t resolve;     /* RESOLVE_FOLLOW and so on (tracee/path.h) */
	uint32_t allows;      /* the class is allowed for at least one path */
	atomic_uint answered; /* how many calls were answered from the cache, modulo 2^32 */
};

/* Counts execve calls: after each, a process may have other rights and another view than before. */
struct exec_counter {
	atomic_uint execs;
	atomic_int unsure; /* another thread than a leader called execve: its calls cannot be distinguished from the leader's */
};

/* Which thread shares a CPU with the broker (fastpath/cpu-affinity.c). The broker writes it; a seqlock. */
struct cpu_sharing_state {
	atomic_uint turn;   /* odd while the broker writes */
	atomic_int used;    /* a thread has shared a CPU at some time */
	int32_t tid_beside; /* the thread that does now, 0 for none */
	int32_t reserved;
	cpu_set_t its_cpus; /* where that thread may run otherwise */
};

struct verdict_cache {
	atomic_uint in_force;
	atomic_uint class_count;
	uint32_t may_share_cpu; /* the supervisor sees calls about CPUs, and births: see fastpath/cpu-affinity.c */
	/*
	 * A seqlock: grows by one when clearing begins and by one when it ends, and is odd meanwhile. Clearing does not wait
	 * for a lookup, because a lookup's open may take long. The lookup sees afterwards that its verdict is outdated.
	 */
	atomic_uint generation;
	struct verdict_class classes[VERDICT_CLASSES];
	uint16_t next[VERDICT_STATES][VERDICT_BYTES];     /* the automaton: the state after one more byte of the path */
	uint8_t allowed[VERDICT_CLASSES][VERDICT_STATES]; /* whether a path that ends in this state is allowed */
	double undecided_execs;                           /* how many execve calls went on, or failed, without a decision */
	uint32_t missing[MISSING_PROGRAMS];               /* hashes of allowed programs that do not exist */
	struct exec_counter exec_counter;
	atomic_uint may_hand_over;      /* the supervisor may wait at the listener itself */
	atomic_uint supervisor_listens; /* the fast path rests until the supervisor sets this to 0 (fastpath/fast-path.c) */
	struct cpu_sharing_state cpu_sharing;
};

#endif
