/* The state of one supervised run. The worker thread that waits for its tracees owns it. */
#ifndef HERMES_SESSION_H
#define HERMES_SESSION_H

#define _GNU_SOURCE
#include "../protocol/layout.h"
#include "../protocol/plan.h"
#include "../tracee/cwd-cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/user.h>
#include <time.h>

/* A thread or process under the trace door. */
struct tracee {
	pid_t tid;
	struct tracee *next;
	enum { PHASE_IDLE, PHASE_MAKING_SCRATCH, PHASE_REPLAYING } phase;
	int born;             /* its birth has been reported */
	int newborn;          /* … or is to be reported next */
	int in_call;          /* its return stop is still to come */
	int want_return;      /* report that stop */
	int32_t skipped;      /* the number of a call that was made on its behalf without a listener */
	int early;            /* stopped at birth, before its parent reported it */
	int ended;            /* reaped outside of the wait, with end_status */
	int end_status;
	uint32_t restore;     /* bit i: argument register i was changed and is restored on return */
	uint64_t original[ARGUMENTS];
	struct user_regs_struct registers; /* as of its current stop */
	uint64_t scratch;     /* memory of ours in its address space, 0 until needed */
	uint32_t scratch_size;
	struct answer *pending; /* an answer that waits for scratch memory, followed by its bytes */
	int parked;             /* it is in the stop that attach.c asked for */
	int every_call;         /* it stops at every call */
	struct on_behalf_call *on_behalf; /* made on its behalf as soon as its notification arrives */
};

enum { TRACEE_BUCKETS = 1024 };

/* A thread that watches one door while the worker waits at the other (doors/both.c). */
struct pump {
	pthread_t thread;
	int running;
	int stop[2];             /* of the listener's pump: a pipe that ends it */
	atomic_int ends;         /* of the stops' pump: it is to end */
	atomic_int worker_waits;
	atomic_int rests;        /* it sleeps until the worker waits */
	atomic_int saw;          /* it saw a stop that the worker has not looked at */
	atomic_int in_vain;      /* how often in a row that was nothing for the worker */
	atomic_uint consumed;
};

struct exec_cache;
struct exec_window;
struct keeper_memory;
struct verdict_cache;

struct session {
	uint8_t *buffer;
	struct event *event;
	struct answer *answer;
	struct fetch_plan fetch_plan;
	int doors;               /* bits 1 << DOOR_NOTIFY, 1 << DOOR_TRACE */
	int awaiting;            /* the event in the buffer has not been answered */
	int over;
	pid_t worker;
	pid_t launcher;          /* or the keeper of a process that we attached to; 0 once it has been reaped */
	pid_t program;
	struct plan *plan;       /* shared with the launcher */
	size_t plan_size;
	int socket;              /* to the launcher, or to the keeper */
	int listener;
	int broker;              /* the socket to the broker, or 0: this process does its work (attach) */
	int calls;               /* the socket by which the broker forwards calls */
	int has_listener;        /* the broker has left the listener to us for now */
	timer_t deadline;
	int has_deadline;
	struct tracee *tracees[TRACEE_BUCKETS];
	int tracee_count;
	struct exec_window *exec_windows;
	struct exec_cache *exec_cache;
	timer_t patience;        /* ends a wait for an exec event alone */
	int has_patience;
	int exec_takes_long;     /* one that is traced for its execve did not reach it at once */
	uint32_t on_behalf_mark; /* in the upper half of the sixth argument: a call that the trace door sends to the listener */
	int on_behalf_count;     /* how many tracees wait for an on-behalf call */
	uint32_t turns;          /* of the wait */
	uint64_t signals;        /* bit n - 1: signal n is reported before the program gets it */
	int early;               /* how many tracees stopped before their parent reported them */
	int ended;               /* how many were reaped outside of the wait */
	int births;              /* report new tracees before their first instruction */
	int newborn;             /* how many of them have yet to be reported */
	int spins_to_skip;       /* this many waits for a stop sleep without polling first */
	struct pump listener_pump, stop_pump;
	int at_listener;         /* where both doors are used: the worker waits at the listener */
	int attached;            /* to a process that ran before us (attach.c) */
	int wants_to_leave;
	int leaving;
	int every_call;
	int main_status;         /* how an attached process ended, where there is no keeper to tell */
	int main_reported;
	int report_first_return; /* report the next return, although no policy subscribes to it */
	uint8_t stops[MAX_SYSCALL / 8]; /* where every call stops: those to report */
	struct keeper_memory *keeper; /* stays mapped: blocking-call threads may outlive the session */
	struct verdict_cache *verdict_cache; /* shared with the broker; NULL without a broker */
	int verdict_cache_fd;
	int view_mounts;         /* the program's mount namespace, held open; 0 or -1 without one */
	int view_user;           /* its user namespace, if that is not ours */
	struct cwd_cache cwd_cache;
	struct exec_counter exec_counter; /* used where there is no verdict cache */
	void *reference;         /* keeps the buffer alive */
};

/* launch.c: 0 or -errno; failed_step in the plan says more */
int session_launch(struct session *s, const uint8_t *plan, size_t size, const char *launcher);

/* view.c: holds the program's namespaces; changes the masks in them as a plan says: 0 or -errno, `seen` a byte per mask */
void session_hold_view(struct session *s);
void session_close_view(struct session *s);
int session_change_view(struct session *s, const uint8_t *plan, size_t size, const char *launcher, uint8_t *seen);

/* session.c */
/* Answers the last event and waits for the next. Returns the kind of the event in the buffer, or -errno. */
int session_next(struct session *s);
/* Answers an event that was held. */
void session_resume(struct session *s, const struct event *held);
void session_close(struct session *s);
/* Interrupts the wait after this many milliseconds, and again every 2 ms until called with 0. */
int session_deadline(struct session *s, int64_t milliseconds);
/* To the launcher, or to the keeper. */
void session_send(struct session *s, enum supervisor_message kind, int value);
/* Puts an event about the program itself into the buffer. Returns 1. */
int session_report(struct session *s, enum event_kind kind, int value);
/* For doors/both.c: each leaves an event in the buffer. */
int session_woken(struct session *s);
int session_no_tracee(struct session *s);
int session_hung_up(struct session *s);

/* verdict-cache.c: a new one, as a descriptor that TypeScript gets, or -1 and an errno */
int verdict_cache_create(void);
/* Maps it. The descriptor belongs to the session from now on. */
int session_map_verdict_cache(struct session *s, int fd);

/* The descriptor that calls come from which need a decision. */
int session_door(const struct session *s);
/* Whether we wait at the listener ourselves, and not the broker. */
int session_listens(const struct session *s);
/* The broker waits at the listener again. */
void session_hand_back(struct session *s);

static inline struct pin *session_pins(struct session *s)
{
	return (struct pin *)(s->buffer + PINS_OFFSET);
}

static inline void event_stamp(struct event *event)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	event->time = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#endif
