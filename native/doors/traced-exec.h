/* Verifies an execve of a program that another process of the session traces already: a debugger, or strace. */
#ifndef HERMES_TRACED_EXEC_H
#define HERMES_TRACED_EXEC_H

#include <stdint.h>
#include <sys/types.h>

enum { RANDOM_BYTES = 16 };

/* What tells one program from the next in the same process: random bytes that the kernel gives to each. */
struct program_mark {
	uint64_t address;
	uint8_t bytes[RANDOM_BYTES];
};

struct held_tracer {
	pid_t tracer;
	int stopped;
	int signal; /* on its way to it */
	struct program_mark before;
};

/*
 * Stops the tracer of a thread, which can then not let the thread go on from a stop. 0 or -errno. If it cannot run any
 * program code before it stops, it is held as well.
 */
int traced_exec_hold(struct held_tracer *held, pid_t tid, pid_t tracer);
/* Waits until the execve of the thread has ended: 1 when it stands before another program's first instruction, 0, or -errno. */
int traced_exec_wait(const struct held_tracer *held, pid_t tid);
/* Lets the tracer go on. Returns 0 when it has not stopped yet, and has to be detached at its next stop. */
int traced_exec_release(struct held_tracer *held);

#endif
