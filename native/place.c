/*
 * On which CPU a program runs while one of its threads opens one file after the other. The kernel wakes whoever gets a
 * descriptor from us on an idle CPU, and to wake that takes longer than all the rest. So the thread and we share one for
 * as long as it goes on like this: until anybody else makes a call, until a call has to be decided on, or for some
 * milliseconds. A program does not notice: what it asks about the CPUs it may use, or sets, is a call that has to be
 * decided on (src/session/self-defence.ts), and its children do not inherit it.
 */
#define _GNU_SOURCE
#include "session.h"
#include "settled.h"

#include <sys/syscall.h>

enum { ENOUGH = 16, NEVER_MORE = 4096, WORTH_IT = 32, MILLISECONDS = 10 };

static const double PAUSE = 0.001; /* seconds */

/* Somebody has to see children before they run, and we must have started the program ourselves. */
static int is_possible(const struct session *s)
{
	return s->settled->may_place && !s->place.unwanted && s->doors == (1 << DOOR_NOTIFY | 1 << DOOR_TRACE) && !s->attached;
}

/* Interrupts the wait, and so brings us to place_leave(), unless that comes first. */
static int set_timer(struct session *s, long milliseconds)
{
	struct place *p = &s->place;
	struct timespec tick = { 0, milliseconds * 1000000 };
	struct itimerspec when = { tick, tick }; /* again and again: one that comes just before the wait is lost */
	struct sigevent how = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WAKE_SIGNAL };
	how._sigev_un._tid = s->worker;
	if (!p->has_timer && timer_create(CLOCK_MONOTONIC, &how, &p->timer) < 0)
		return -1;
	p->has_timer = 1;
	return timer_settime(p->timer, 0, &when, NULL);
}

static void come_beside(struct session *s, pid_t tid)
{
	struct place *p = &s->place;
	cpu_set_t one;
	int cpu = sched_getcpu();
	if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof p->own, &p->own) < 0 ||
	    sched_getaffinity(tid, sizeof p->its, &p->its) < 0)
		return;
	if (CPU_COUNT(&p->its) < 2 || !CPU_ISSET(cpu, &p->its) || set_timer(s, MILLISECONDS) < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	p->beside = tid;
	p->handed = 0;
	p->used = 1;
	if (sched_setaffinity(tid, sizeof one, &one) < 0 || sched_setaffinity(0, sizeof one, &one) < 0)
		place_leave(s);
}

void place_before_handing(struct session *s)
{
	struct place *p = &s->place;
	const struct event *event = s->event;
	int goes_on = p->tid == event->tid && event->time - p->last < PAUSE;
	p->tid = event->tid;
	p->last = event->time;
	p->in_a_row = goes_on ? p->in_a_row + 1 : 0;
	p->handed++;
	if (p->beside == 0 && p->in_a_row >= (p->enough ? p->enough : ENOUGH) && is_possible(s))
		come_beside(s, event->tid);
}

/* Who chooses CPUs is left alone from then on: what one thread sets for another must not be undone when they part. */
void place_called(struct session *s)
{
	if (s->event->nr == SYS_sched_setaffinity)
		s->place.unwanted = 1;
	if (s->place.beside != s->event->tid)
		place_interrupt(s);
}

/* To move takes as long as some calls: threads that take turns, or soon do something else, are not worth it. */
void place_interrupt(struct session *s)
{
	struct place *p = &s->place;
	if (p->beside == 0)
		return;
	int more = (p->enough ? p->enough : ENOUGH) * 4;
	p->enough = p->handed >= WORTH_IT ? ENOUGH : more < NEVER_MORE ? more : NEVER_MORE;
	place_leave(s);
}

void place_leave(struct session *s)
{
	struct place *p = &s->place;
	if (p->beside == 0)
		return;
	set_timer(s, 0);
	sched_setaffinity(p->beside, sizeof p->its, &p->its);
	sched_setaffinity(0, sizeof p->own, &p->own);
	p->beside = 0;
}

int place_is_inherited(const struct session *s, pid_t child)
{
	cpu_set_t its;
	return s->place.used && sched_getaffinity(child, sizeof its, &its) == 0 && CPU_COUNT(&its) == 1;
}

void place_born(struct session *s, pid_t parent, pid_t child)
{
	cpu_set_t its;
	place_leave(s);
	if (place_is_inherited(s, child) && sched_getaffinity(parent, sizeof its, &its) == 0)
		sched_setaffinity(child, sizeof its, &its);
}

void place_close(struct session *s)
{
	place_leave(s);
	if (s->place.has_timer)
		timer_delete(s->place.timer);
}
