/*
 * Answers that stand: what the policies have allowed for every path of a kind, in a table that TypeScript fills
 * (src/session/settled.ts). The broker looks up and counts, in several threads (front.c); what the table does not know is
 * decided by the supervisor. What is in it changes only from unknown to known, until it is emptied. Both share its memory.
 */
#ifndef HERMES_SETTLED_H
#define HERMES_SETTLED_H

#include "layout.h"
#include "origin.h"
#include "place.h"

#include <limits.h>
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
	uint32_t stands;   /* there is a path for which an answer stands */
	atomic_uint made;  /* how many calls were answered so, modulo 2^32 */
};

struct settled {
	atomic_uint in_force;
	atomic_uint class_count;
	uint32_t may_place;  /* calls about CPUs are seen, and so are births: see place.c */
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
	struct programs programs;
	struct placed placed;
};

/* A call that waits at the listener. */
struct asked {
	int listener;
	uint64_t id;
	pid_t tid;
	int nr;
	const uint64_t *args;
	struct settled *table;
	struct origins *origins;
	struct place *place; /* NULL where several threads answer */
};

/* What the path of a call was found to reach, before anybody has asked. */
struct found {
	int known;
	int dirfd;      /* what it was asked with: path_resolve() */
	int flags;
	ssize_t length; /* what that returned */
	struct pin pin;
	char path[PATH_MAX];
	char name[2 * PATH_MAX];
};

/*
 * Makes the call, now or in a thread of its own, if what is known allows it; returns whether it does. If not, what its path
 * reaches may be in `found`.
 */
int settled_answers(const struct asked *call, struct found *found);

/* table.c: a new one, of which TypeScript has the descriptor; this process's sight of it. -1 and an errno. */
int settled_file(void);
struct session;
int settled_map(struct session *s, int file);

/* missing.c: whether the call in the buffer is an execve of something that is still not there */
int settled_misses(struct session *s);

#endif
