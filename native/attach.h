/* Attaching to a process that runs already, and leaving it as it was. */
#ifndef HERMES_ATTACH_H
#define HERMES_ATTACH_H

#include "keep.h"
#include "session.h"

enum attach_flag {
	ATTACH_STAY = 1,          /* its threads stay traced: execs and ends are seen */
	ATTACH_EVERY_CALL = 2,    /* … and stop at every call, of which those in `stops` are reported */
	ATTACH_FIRST_RETURN = 8,  /* report the first call that returns, whatever it is: something is to be done to the process */
	ATTACH_NO_NEW_PRIVS = 4,  /* give up new privileges first: a filter of one without CAP_SYS_ADMIN needs it */
};

/* What failed; src/session/attach.ts has the words. */
enum attach_step {
	ATTACH_SEIZE = 1,
	ATTACH_STOP = 2,
	ATTACH_PLACE = 3,
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
	const uint8_t *stops;  /* a bit for each call, MAX_SYSCALL / 8 bytes */
	const char *launcher;
	pid_t keeper;          /* take the listener over from this one; 0: there is none */
	const uint8_t *note;   /* what the filter stops, for those who come later */
	size_t note_size;
};

/* Returns 0, or -(step * 4096 + errno); then the process runs on as if nothing had been. */
int session_attach(struct session *s, const struct attach_order *order);
/* Begins to leave: session_next() calls it when wants_to_leave is set, and says EVENT_OVER when nobody is left. */
void attach_leave(struct session *s);
/* One stop of a tracee that is to be let go. */
void attach_let_go(struct session *s, struct tracee *t, int status);
/* Whether an attached session is over, and what it has to report: 1 when there is something, 0 when not. */
int attach_over(struct session *s);

/* inject.c: calls that a stopped thread makes on our account. */
struct injection {
	pid_t tid;
	int listener; /* -1, or where its own calls may wait for an answer */
	uint64_t place; /* of a syscall instruction */
	struct user_regs_struct own;
	uint64_t mask; /* of signals */
};
int inject_begin(struct injection *i, pid_t tid, uint64_t place);
int64_t inject_call(struct injection *i, long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f);
/* Leaves it stopped, with the registers and signals that it had. */
int inject_end(struct injection *i);
uint64_t inject_place(pid_t pid);
/* Whether a thread may be used so just now: not inside a restartable sequence. */
int inject_is_safe(pid_t tid);
/* It calls into user space instead of the kernel (PR_SET_SYSCALL_USER_DISPATCH): ours would go astray. */
int inject_is_dispatched(pid_t tid);
/*
 * That it is traced must not be seen: a call that the kernel ended with EINTR because of our stop, or of a signal
 * (`number`, or 0) that only a tracer hears of, is made again. Returns whether it will be.
 */
int inject_undo_interruption(pid_t tid, int number);

/* kept.c: the supervisor's side of a keeper. Each returns 0 or -errno. */
int kept_start(struct session *s, const struct attach_order *order);
int kept_give_listener(struct session *s);
int kept_take_over(struct session *s, pid_t keeper);
/* kept_note(keeper, into, size): what its filter stops; the length, or -errno; -EBUSY when its supervisor is there. */
int64_t kept_note(pid_t keeper, char *into, size_t size);

#endif
