/* Waiting for the next ptrace stop, if possible without sleeping. */
#define _GNU_SOURCE
#include "doors.h"
#include "../kernel/clock.h"

#include <sched.h>
#include <sys/wait.h>

enum { SPIN_NS = 50 * 1000, LOST_NS = 200 * 1000, SLEEPS_AFTER_MISS = 1, SLEEPS_AFTER_LOSS = 64 };

/* __WNOTHREAD: only this thread's tracees, not Node's own children. */
static pid_t wait_for_stop(int *status, int options)
{
	return waitpid(-1, status, __WALL | __WNOTHREAD | options);
}

/*
 * A program that was just answered often stops again within microseconds, and a wake-up on another CPU costs more than the
 * rest of a stop. So we poll for a moment before we sleep, and yield in between for a tracee that waits for this CPU. When
 * polling found nothing, or another thread took the CPU for long, the next waits sleep at once.
 */
int spin_begins(struct session *s)
{
	if (s->spins_to_skip == 0)
		return 1;
	s->spins_to_skip--;
	return 0;
}

int spin_goes_on(int64_t from)
{
	return monotonic_ns() - from < SPIN_NS;
}

void spin_ended(struct session *s, int64_t from, int found)
{
	if (monotonic_ns() - from > LOST_NS)
		s->spins_to_skip = SLEEPS_AFTER_LOSS;
	else if (!found)
		s->spins_to_skip = SLEEPS_AFTER_MISS;
}

/* Returns 0 when there was no stop. */
static pid_t spin_for_stop(struct session *s, int *status)
{
	if (!spin_begins(s))
		return 0;
	int64_t from = monotonic_ns();
	pid_t tid;
	do {
		tid = wait_for_stop(status, WNOHANG);
		if (tid == 0)
			sched_yield();
	} while (tid == 0 && spin_goes_on(from));
	spin_ended(s, from, tid != 0);
	return tid;
}

pid_t stop_wait(struct session *s, int *status, int spin_first)
{
	pid_t tid = spin_first ? spin_for_stop(s, status) : 0;
	return tid == 0 ? wait_for_stop(status, 0) : tid;
}
