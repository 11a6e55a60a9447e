/*
 * On which CPU a program runs while one of its threads opens one file after the other. The kernel wakes whoever gets a
 * descriptor from the broker on an idle CPU, and to wake that takes longer than all the rest. So the thread and the broker
 * share one for as long as it goes on like this: until anybody else makes a call, until a call has to be decided on, or for
 * some milliseconds. A program does not notice: what it asks about the CPUs it may use, or sets, is a call that has to be
 * decided on (src/session/self-defence.ts), and its children do not inherit it.
 */
#define _GNU_SOURCE
#include "session.h"

#include <sys/syscall.h>

enum { ENOUGH = 16, NEVER_MORE = 4096, WORTH_IT = 32, MILLISECONDS = 10, PAUSE_NS = 1000 * 1000, TRIES = 10000 };

/* Interrupts the wait, and so brings us to place_leave(), unless that comes first. */
static int set_timer(struct place *p, long milliseconds)
{
	struct timespec tick = { 0, milliseconds * 1000000 };
	struct itimerspec when = { tick, tick }; /* again and again: one that comes just before the wait is lost */
	struct sigevent how = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WAKE_SIGNAL };
	how._sigev_un._tid = p->self;
	if (!p->has_timer && timer_create(CLOCK_MONOTONIC, &how, &p->timer) < 0)
		return -1;
	p->has_timer = 1;
	return timer_settime(p->timer, 0, &when, NULL);
}

static void tell(struct place *p, pid_t beside, const cpu_set_t *its)
{
	atomic_fetch_add(&p->told->turn, 1);
	p->told->beside = beside;
	if (its)
		p->told->its = *its;
	atomic_fetch_add(&p->told->turn, 1);
}

static void come_beside(struct place *p, pid_t tid)
{
	cpu_set_t one, its;
	int cpu = sched_getcpu();
	if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof p->own, &p->own) < 0 ||
	    sched_getaffinity(tid, sizeof its, &its) < 0)
		return;
	if (CPU_COUNT(&its) < 2 || !CPU_ISSET(cpu, &its) || set_timer(p, MILLISECONDS) < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	p->handed = 0;
	tell(p, tid, &its);
	atomic_store(&p->told->used, 1);
	if (sched_setaffinity(tid, sizeof one, &one) < 0 || sched_setaffinity(0, sizeof one, &one) < 0)
		place_leave(p);
}

void place_before_handing(struct place *p, pid_t tid)
{
	int64_t now = look_time();
	int goes_on = p->tid == tid && now - p->last < PAUSE_NS;
	p->tid = tid;
	p->last = now;
	p->in_a_row = goes_on ? p->in_a_row + 1 : 0;
	p->handed++;
	if (p->told->beside == 0 && p->in_a_row >= (p->enough ? p->enough : ENOUGH) && !p->unwanted)
		come_beside(p, tid);
}

/* Who chooses CPUs is left alone from then on: what one thread sets for another must not be undone when they part. */
void place_called(struct place *p, pid_t tid, int nr)
{
	if (nr == SYS_sched_setaffinity)
		p->unwanted = 1;
	if (p->told->beside != tid)
		place_interrupt(p);
}

/* To move takes as long as some calls: threads that take turns, or soon do something else, are not worth it. */
void place_interrupt(struct place *p)
{
	if (p->told->beside == 0)
		return;
	int more = (p->enough ? p->enough : ENOUGH) * 4;
	p->enough = p->handed >= WORTH_IT ? ENOUGH : more < NEVER_MORE ? more : NEVER_MORE;
	place_leave(p);
}

void place_leave(struct place *p)
{
	if (p->told->beside == 0)
		return;
	set_timer(p, 0);
	sched_setaffinity(p->told->beside, sizeof p->told->its, &p->told->its);
	sched_setaffinity(0, sizeof p->own, &p->own);
	tell(p, 0, NULL);
}

void place_close(struct place *p)
{
	place_leave(p);
	if (p->has_timer)
		timer_delete(p->timer);
}

/* ------------------------------------------------------------------ births, in the supervisor */

int place_is_inherited(struct placed *told, pid_t child)
{
	cpu_set_t its;
	return told != NULL && atomic_load(&told->used) && sched_getaffinity(child, sizeof its, &its) == 0 && CPU_COUNT(&its) == 1;
}

/* Where a thread may run when nobody shares a CPU with it. */
static int where_it_may_run(struct placed *told, pid_t tid, cpu_set_t *its)
{
	for (int i = 0; i < TRIES; i++) {
		unsigned int turn = atomic_load(&told->turn);
		int beside = told->beside == tid;
		*its = told->its;
		atomic_thread_fence(memory_order_acquire);
		if (turn % 2 == 0 && atomic_load(&told->turn) == turn)
			return beside || sched_getaffinity(tid, sizeof *its, its) == 0;
	}
	return sched_getaffinity(0, sizeof *its, its) == 0; /* the broker does not finish its sentence */
}

void place_born(struct placed *told, pid_t parent, pid_t child)
{
	cpu_set_t its;
	if (place_is_inherited(told, child) && where_it_may_run(told, parent, &its))
		sched_setaffinity(child, sizeof its, &its);
}
