/* Attaching to a running process, and leaving it as it was. */
#ifndef HERMES_ATTACH_H
#define HERMES_ATTACH_H

#include "session.h"

enum attach_flag {
	ATTACH_STAY = 1,          /* its threads stay traced: execs and exits are seen */
	ATTACH_EVERY_CALL = 2,    /* … and stop at every call; those in `stops` are reported */
	ATTACH_FIRST_RETURN = 8,  /* report the first call that returns: something is to be done to the process */
	ATTACH_NO_NEW_PRIVS = 4,  /* set no_new_privs first: without CAP_SYS_ADMIN a filter needs it */
};

/* What failed; src/session/attach.ts has the words. */
enum attach_step {
	ATTACH_SEIZE = 1,
	ATTACH_STOP = 2,
	ATTACH_FIND_SYSCALL = 3,
	ATTACH_MEMORY = 4,
	ATTACH_PRIVILEGES = 5,
	ATTACH_FILTER = 6,
	ATTACH_LISTENER = 7,
	ATTACH_KEEPER = 8,
	ATTACH_TAKE_OVER = 9,
	ATTACH_DISPATCH = 10,
};

struct attach_order {
	pid_t pid;
	int flags;
	const uint8_t *filter; /* struct sock_filter, as bytes */
	size_t filter_size;    /* 0: no filter */
	const uint8_t *stops;  /* a bit for each system call, MAX_SYSCALL / 8 bytes */
	const char *launcher;
	pid_t keeper;          /* take the listener over from this keeper; 0: there is none */
	const uint8_t *note;   /* what the filter stops, for a HERMES that attaches later */
	size_t note_size;
};

/* Returns 0, or -(step * 4096 + errno); then the process goes on unchanged. */
int session_attach(struct session *s, const struct attach_order *order);
/* Begins to detach. session_next() calls it when wants_to_leave is set, and reports EVENT_OVER when every tracee is detached. */
void attach_leave(struct session *s);
/* Detaches one tracee at one of its stops. */
void attach_detach_one(struct session *s, struct tracee *t, int status);
/* Whether an attached session has ended: 1 when the buffer holds the event that says so, 0 when not. */
int attach_poll_end(struct session *s);

#endif
