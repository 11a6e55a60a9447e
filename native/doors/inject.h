/* System calls that a stopped thread makes for us. */
#ifndef HERMES_INJECT_H
#define HERMES_INJECT_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct injection {
	pid_t tid;
	int listener;     /* -1, or where the injected calls may wait for an answer */
	uint64_t address; /* of a syscall instruction */
	struct user_regs_struct own;
	uint64_t mask;    /* of signals */
};
int inject_begin(struct injection *i, pid_t tid, uint64_t address);
int64_t inject_call(struct injection *i, long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f);
/* Leaves the thread stopped, with the registers and the signal mask that it had. */
int inject_end(struct injection *i);
/* The address of a syscall instruction in the process, 0 when there is none. */
uint64_t inject_find_syscall(pid_t pid);
/* Whether the thread can make a call now: it is not inside a restartable sequence (rseq(2)). */
int inject_is_safe(pid_t tid);
/* Whether its calls go to user space instead of the kernel (PR_SET_SYSCALL_USER_DISPATCH). An injected call would too. */
int inject_is_dispatched(pid_t tid);
/*
 * Tracing must not be observable: a call that failed with EINTR only because of our stop, or of a signal (`number`, or 0)
 * that without a tracer would not interrupt it, is made again. Returns whether it will be.
 */
int inject_undo_interruption(pid_t tid, int number);

#endif
