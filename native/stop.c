/* Waiting for the next ptrace stop, without a sleep where that can be. */
#define _GNU_SOURCE
#include "session.h"

#include <sched.h>
#include <sys/wait.h>

enum { LOOK_NS = 50 * 1000, LOST_NS = 200 * 1000, SLEEPS_AFTER_MISS = 1, SLEEPS_AFTER_LOSS = 64 };

/* __WNOTHREAD: only this thread's tracees. Node's own children are none of our business. */
static pid_t wait_for_stop(int *status, int options)
{
	return waitpid(-1, status, __WALL | __WNOTHREAD | options);
}

/*
 * A program that was just answered often stops again within microseconds, and to be woken on another CPU costs
 * more than all the rest of a stop. So we look a few times before we sleep. A yield between gives way to a tracee
 * that is waiting for this very CPU. When that did not help, or somebody else took the CPU for long, we sleep
 * at once for some time.
 */
int look_begins(struct session *s)
{
	if (s->sleeps == 0)
		return 1;
	s->sleeps--;
	return 0;
}

int look_goes_on(int64_t from)
{
	return look_time() - from < LOOK_NS;
}

void look_ended(struct session *s, int64_t from, int found)
{
	if (look_time() - from > LOST_NS)
		s->sleeps = SLEEPS_AFTER_LOSS;
	else if (!found)
		s->sleeps = SLEEPS_AFTER_MISS;
}

/* Returns 0 when there was no stop. */
static pid_t look_for_stop(struct session *s, int *status)
{
	if (!look_begins(s))
		return 0;
	int64_t from = look_time();
	pid_t tid;
	do {
		tid = wait_for_stop(status, WNOHANG);
		if (tid == 0)
			sched_yield();
	} while (tid == 0 && look_goes_on(from));
	look_ended(s, from, tid != 0);
	return tid;
}

/* As waitpid. With `look_first` it may keep a CPU busy for a moment that nobody else wants. */
pid_t stop_wait(struct session *s, int *status, int look_first)
{
	pid_t tid = look_first ? look_for_stop(s, status) : 0;
	return tid == 0 ? wait_for_stop(status, 0) : tid;
}
