/*
 * Sharing one CPU between the broker and a thread that opens one file after the other. The kernel wakes a thread that gets
 * a descriptor from the broker on an idle CPU, and that wake-up takes longer than all the rest. So thread and broker share
 * a CPU until another thread makes a call, until a call needs a decision, or for some milliseconds. The program cannot
 * observe it: calls that read or set CPU affinity need a decision (src/session/self-defence.ts), and its children do not
 * inherit it (doors/birth-affinity.c).
 */
#define _GNU_SOURCE
#include "cpu-affinity.h"
#include "../kernel/clock.h"
#include "../kernel/wake-signal.h"

#include <sys/syscall.h>

enum { CALLS_IN_A_ROW = 16, MAX_IN_A_ROW = 4096, WORTHWHILE = 32, LIMIT_MS = 10, PAUSE_NS = 1000 * 1000 };

/* The timer interrupts the wait, so that the fast path calls cpu_sharing_stop() in time. */
static int set_timer(struct cpu_sharing *c, long milliseconds)
{
	struct timespec tick = { 0, milliseconds * 1000000 };
	struct itimerspec when = { tick, tick }; /* periodic: a signal that comes just before the wait is lost */
	struct sigevent how = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WAKE_SIGNAL };
	how._sigev_un._tid = c->self;
	if (!c->has_timer && timer_create(CLOCK_MONOTONIC, &how, &c->timer) < 0)
		return -1;
	c->has_timer = 1;
	return timer_settime(c->timer, 0, &when, NULL);
}

static void publish(struct cpu_sharing *c, pid_t tid, const cpu_set_t *its_cpus)
{
	atomic_fetch_add(&c->state->turn, 1);
	c->state->tid_beside = tid;
	if (its_cpus)
		c->state->its_cpus = *its_cpus;
	atomic_fetch_add(&c->state->turn, 1);
}

static void share_cpu(struct cpu_sharing *c, pid_t tid)
{
	cpu_set_t one, its_cpus;
	int cpu = sched_getcpu();
	if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof c->own_cpus, &c->own_cpus) < 0 ||
	    sched_getaffinity(tid, sizeof its_cpus, &its_cpus) < 0)
		return;
	if (CPU_COUNT(&its_cpus) < 2 || !CPU_ISSET(cpu, &its_cpus) || set_timer(c, LIMIT_MS) < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	c->descriptors = 0;
	publish(c, tid, &its_cpus);
	atomic_store(&c->state->used, 1);
	if (sched_setaffinity(tid, sizeof one, &one) < 0 || sched_setaffinity(0, sizeof one, &one) < 0)
		cpu_sharing_stop(c);
}

void cpu_sharing_before_descriptor(struct cpu_sharing *c, pid_t tid)
{
	int64_t now = monotonic_ns();
	int goes_on = c->tid == tid && now - c->last < PAUSE_NS;
	c->tid = tid;
	c->last = now;
	c->in_a_row = goes_on ? c->in_a_row + 1 : 0;
	c->descriptors++;
	if (c->state->tid_beside == 0 && c->in_a_row >= (c->enough ? c->enough : CALLS_IN_A_ROW) && !c->unwanted)
		share_cpu(c, tid);
}

/*
 * A program that chooses CPUs is left alone from then on: what one thread sets for another must not be undone when sharing
 * stops.
 */
void cpu_sharing_on_call(struct cpu_sharing *c, pid_t tid, int nr)
{
	if (nr == SYS_sched_setaffinity)
		c->unwanted = 1;
	if (c->state->tid_beside != tid)
		cpu_sharing_interrupt(c);
}

/* Moving costs as much as some calls. It does not pay off for threads that take turns, or that soon do something else. */
void cpu_sharing_interrupt(struct cpu_sharing *c)
{
	if (c->state->tid_beside == 0)
		return;
	int more = (c->enough ? c->enough : CALLS_IN_A_ROW) * 4;
	c->enough = c->descriptors >= WORTHWHILE ? CALLS_IN_A_ROW : more < MAX_IN_A_ROW ? more : MAX_IN_A_ROW;
	cpu_sharing_stop(c);
}

void cpu_sharing_stop(struct cpu_sharing *c)
{
	if (c->state->tid_beside == 0)
		return;
	set_timer(c, 0);
	sched_setaffinity(c->state->tid_beside, sizeof c->state->its_cpus, &c->state->its_cpus);
	sched_setaffinity(0, sizeof c->own_cpus, &c->own_cpus);
	publish(c, 0, NULL);
}
