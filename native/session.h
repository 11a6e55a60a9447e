/* The state of one supervised run, owned by the worker thread that waits for its tracees. */
#ifndef HERMES_SESSION_H
#define HERMES_SESSION_H

#define _GNU_SOURCE
#include "layout.h"
#include "origin.h"
#include "place.h"
#include "plan.h"
#include "procfs.h"

#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/user.h>
#include <time.h>

#define WAKE_SIGNAL (SIGRTMIN + 7)

/* A thread or process under the trace door. */
struct tracee {
	pid_t tid;
	struct tracee *next;
	enum { PHASE_IDLE, PHASE_MAKING_SCRATCH, PHASE_REPLAYING } phase;
	int born;             /* its birth has been told */
	int newborn;          /* … or is the next thing to be told */
	int in_call;          /* its return stop is still to come */
	int32_t skipped;      /* the number of a call that was made in its place without a listener */
	int want_return;      /* that stop is to be reported */
	int early;            /* stopped at birth, before we heard of it from its parent */
	int ended;            /* it was reaped outside of the wait, with this status */
	int end_status;
	uint32_t restore;     /* bit i: argument register i was changed and goes back on return */
	uint64_t original[ARGUMENTS];
	struct user_regs_struct registers; /* as of the stop it is in */
	uint64_t scratch;     /* memory of ours in its address space, 0 until needed */
	uint32_t scratch_size;
	struct answer *pending; /* an answer that waits for scratch memory, its bytes behind it */
	int rests;              /* it waits for us in the stop that we asked for (attach.c) */
	int every_call;         /* it stops at every call */
	struct act *act;        /* a call that is made in its place as soon as it is notified */
};

enum { TRACEE_BUCKETS = 1024 };

/* Looks at one door while the worker waits at the other (both.c). */
struct pump {
	pthread_t thread;
	int running;
	int stop[2];             /* of the one that looks at the listener: a pipe that ends it */
	atomic_int ends;         /* of the other */
	atomic_int worker_waits;
	atomic_int rests;        /* … which it has to be woken from when the worker waits */
	atomic_int saw;          /* something is there that the worker has not looked at */
	atomic_int in_vain;      /* so often in a row it was nothing for the worker */
	atomic_uint consumed;
};

struct settled;

struct session {
	uint8_t *buffer;
	struct event *event;
	struct answer *answer;
	struct fetch_plan fetch_plan;
	int doors;          /* bits 1 << DOOR_NOTIFY, 1 << DOOR_TRACE */
	int awaiting;       /* the event in the buffer has not been answered */
	int over;
	pid_t worker;
	pid_t launcher;     /* 0 once it has been reaped */
	pid_t program;
	struct plan *plan;  /* shared with the launcher */
	size_t plan_size;
	int socket;         /* to the launcher */
	int listener;
	int broker;         /* the socket to it, or 0: this process resolves and acts itself (attach) */
	int calls;          /* … by which it sends the calls that have to be decided on */
	timer_t deadline;
	int has_deadline;
	struct tracee *tracees[TRACEE_BUCKETS];
	int tracee_count;
	uint32_t act_mark;  /* in the upper half of the sixth argument: a call that the trace door wants to be notified */
	int acting;         /* so many tracees have an act */
	uint32_t turns;     /* of the wait */
	uint64_t signals;   /* bit n - 1: signal n is reported before the program gets it */
	int early;          /* so many tracees wait to be heard of */
	int ended;          /* so many tracees were reaped outside of the wait */
	int births;         /* new tracees are reported before their first instruction */
	int newborn;        /* so many of them have yet to be */
	int sleeps;         /* so many waits for a stop sleep without looking first */
	struct pump listener_pump, stop_pump;
	int at_listener;    /* where both doors are used: which one the worker waits at */
	int attached;       /* to a process that was there before us (attach.c); the launcher is then its keeper, if any */
	int wants_to_leave;
	int leaving;
	int every_call;
	int main_status;    /* how it ended, where nobody else tells us */
	int main_told;
	int tell_first;     /* the next return is reported, although nobody asked for it */
	uint8_t stops[MAX_SYSCALL / 8]; /* where every call stops: those that are reported */
	struct keep *kept;  /* shared with the keeper; deputies may outlive us, so it stays mapped */
	struct settled *settled; /* answers that stand, shared with the broker; NULL where there is none */
	int settled_file;        /* its memory, until the launcher has it */
	struct origins origins;
	struct programs programs; /* where there is no such table */
	void *reference;    /* by which the buffer is held */
};

/* launch: returns 0, or -errno; failed_step in the plan says more. */
int session_launch(struct session *s, const uint8_t *plan, size_t size, const char *launcher);
/* wait.c */
int session_next(struct session *s);
void session_resume(struct session *s, const struct event *held);
void session_close(struct session *s);
int session_deadline(struct session *s, int64_t milliseconds);
void session_tell(struct session *s, enum supervisor_message kind, int value);

/* wait.c, for both.c: each leaves an event in the buffer */
int wait_woken(struct session *s);
int wait_no_tracee(struct session *s);
int wait_hung_up(struct session *s);

/* both.c */
int both_next(struct session *s);
void both_close(struct session *s);

/* Where calls come from that have to be decided on. */
static inline int session_door(const struct session *s)
{
	return s->broker > 0 ? s->calls : s->listener;
}

static inline struct pin *session_pins(struct session *s)
{
	return (struct pin *)(s->buffer + PINS_OFFSET);
}

/* notify.c: each returns 1 when the buffer holds an event, 0 when there was none, -errno */
int notify_receive(struct session *s);
/* … of a call that has been received */
int notify_take(struct session *s, const struct seccomp_notif *request);
/* It becomes the event in the buffer, with what its arguments point to: whether its caller still waits. */
int notify_read(struct session *s, const struct seccomp_notif *request);
/* Of another ABI: only a filter that has to outlast us lets them come so far. */
int notify_is_foreign(const struct seccomp_notif *request);
void notify_answer(struct session *s, const struct event *event);

/* trace.c */
int trace_seize(struct session *s, pid_t tid);
void trace_follow(struct tracee *t);
int trace_wait(struct session *s, int look_first);
int trace_look(struct session *s);
void trace_answer(struct session *s, const struct event *event);
int trace_is_injecting(struct session *s, pid_t tid);

/* hook.c */
int hook_signal(struct session *s, struct tracee *t, int number);
void hook_answer(struct session *s, struct tracee *t, const struct event *event);
void hook_block_again(struct tracee *t, int number);
int64_t hook_call(struct session *s, pid_t tid, uint64_t at, const uint64_t call[7]);
int hook_registers(pid_t tid, void *into);
int hook_set_registers(struct session *s, pid_t tid, const void *from);
int hook_store(pid_t tid, uint64_t address, const uint8_t *from, size_t length);
int hook_patch(pid_t tid, const uint64_t *addresses, const uint8_t *values, size_t count);

/* tracee.c */
struct tracee *tracee_find(struct session *s, pid_t tid);
struct tracee *tracee_find_or_add(struct session *s, pid_t tid);
void tracee_forget(struct session *s, pid_t tid);
void tracee_forget_act(struct session *s, struct tracee *t);
void tracee_forget_all(struct session *s);
/* One that was born early, and whose parent is gone and will not tell of it any more. */
struct tracee *tracee_orphan(struct session *s);
struct tracee *tracee_next(struct session *s, int (*wanted)(const struct tracee *t));

/* instruction.c */
int instruction_traps(const struct session *s);
enum instruction instruction_faulted(struct session *s, struct tracee *t, int *length);
void instruction_report(struct event *event, const struct tracee *t, enum instruction which, int length);
void instruction_answer(struct tracee *t, const struct event *event, const struct answer *answer);
void instruction_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t into[4]);

/* stop.c */
pid_t stop_wait(struct session *s, int *status, int look_first);
int look_begins(struct session *s);
int look_goes_on(int64_t from);
void look_ended(struct session *s, int64_t from, int found);

/* memory.c */
/* A stop begins: tests count what is read in each (HERMES_READS). */
void memory_stopped(const struct event *event);
ssize_t memory_read(pid_t tid, uint64_t address, void *into, size_t length);
ssize_t memory_read_string(pid_t tid, uint64_t address, char *into, size_t size, int *truncated);
int memory_write(pid_t tid, uint64_t address, const void *from, size_t length);
int memory_apply_writes(pid_t tid, const struct answer *answer, const uint8_t *bytes);
void memory_fetch(struct session *s);

/*
 * path.c: what a path reaches is held open in the pin, its canonical name goes to `into`. Returns the name's length or
 * -errno; the pin knows more: that only the last component is missing, or what the kernel would say.
 */
enum {
	RESOLVE_FOLLOW = 1,    /* a last component that is a link */
	RESOLVE_APART = 2,     /* the tracee may have another root, or other mounts, than we have */
	RESOLVE_AS_TRACEE = 4, /* the tracee may be somebody else than we are */
	RESOLVE_PARENT = 8,    /* the call changes an entry of a folder: hold the folder too */
	RESOLVE_HOW_SHIFT = 8, /* from here on: the restrictions of an openat2 */
	RESOLVE_HOW_IN_ROOT = 0x18 << RESOLVE_HOW_SHIFT, /* … by which even "/" means the folder it was given */
	PATH_AS_ASKED = 0,     /* instead of a length: the path is canonical as it is */
};
ssize_t path_resolve(pid_t tid, int dirfd, const char *path, int flags, struct pin *pin, char *into, size_t size);
/* /proc/self names whoever asks. We ask, so we must say whom we mean, in the numbers of that /proc (walk.c). */
int proc_self(pid_t tid, int link, const char *name, char *text, size_t size);
int path_views_differ(pid_t tid);
/* What a descriptor of the tracee is, with its name as /proc has it: the name's length, or -errno. */
ssize_t path_pin_fd(pid_t tid, int fd, struct pin *pin, char *into, size_t size);
void pin_release(struct pin *pin);
/* What is known of the file that a pin holds; `levels` >= 0: of the folder above it, so many levels up. 0 or -errno. */
struct pin_facts {
	uint64_t device, inode; /* as stat(2) tells */
	double born;            /* milliseconds since 1970, 0 when that is not known */
	uint64_t mount;         /* the id of its mount */
	uint64_t inode_inside;  /* as the kernel has it (fdinfo): file systems may tell others */
};
int pin_stat(const struct pin *pin, int levels, struct pin_facts *facts);
/* Bytes of the file that it holds: how many, or -errno. */
ssize_t pin_read(const struct pin *pin, uint64_t offset, void *into, size_t length);
ssize_t path_of_fd(pid_t tid, int fd, char *into, size_t size);
/* Local and peer socket addresses of a tracee's socket, each at most 128 bytes; returns 0 or -errno. */
int socket_names(pid_t tid, int fd, uint8_t *local, uint32_t *local_size, uint8_t *peer, uint32_t *peer_size);

/* Nanoseconds since some moment. */
static inline int64_t look_time(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static inline void stamp(struct event *event)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	event->time = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#endif
