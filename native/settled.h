/*
 * Answers that stand: what the policies have allowed for every path of a kind, in a table that TypeScript fills
 * (src/session/settled.ts). C looks up and counts, in several threads (clerks.c); what the table does not know goes the
 * whole way. What is in it changes only from unknown to known, until it is emptied.
 */
#ifndef HERMES_SETTLED_H
#define HERMES_SETTLED_H

#include <stdatomic.h>
#include <stdint.h>

enum {
	SETTLED_CLASSES = 64,
	SETTLED_STATES = 4096,
	SETTLED_BYTES = 128, /* paths of other bytes are never in the table */
	SETTLED_START = 1,   /* 0: not known */
	SETTLED_MISSING = 256,
};

/* Calls of one number with the same flags. */
struct settled_class {
	int32_t nr;
	int32_t flags_at;  /* index of the argument that holds the flags, -1 for none */
	uint32_t flags;
	int32_t dirfd_at;  /* … the folder that the path starts from, -1 for the working directory; or the descriptor */
	int32_t path_at;   /* -1: it is about a descriptor */
	uint32_t resolve;  /* RESOLVE_FOLLOW and so on */
	atomic_uint made;  /* how many calls were answered so, modulo 2^32 */
	uint32_t reserved;
};

struct settled {
	atomic_uint in_force;
	atomic_uint class_count;
	uint32_t may_place;  /* calls about CPUs come to us: see place.c */
	/*
	 * Grows by one when the table begins to be emptied, and by one when that is done: odd meanwhile. Nobody waits for
	 * those who look up, since what they do with an answer may take long; they see that it does not stand any more.
	 */
	atomic_uint generation;
	struct settled_class classes[SETTLED_CLASSES];
	uint16_t next[SETTLED_STATES][SETTLED_BYTES];      /* the state after one more byte of the path */
	uint8_t allowed[SETTLED_CLASSES][SETTLED_STATES]; /* whether a path that ends there is allowed */
	double missed;                                    /* how many execve were answered by what follows */
	uint32_t missing[SETTLED_MISSING];                /* hashes of programs that were allowed, and not there */
};

#endif
