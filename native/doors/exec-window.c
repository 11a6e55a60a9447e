/*
 * Verifies an execve that was decided on at the notify door. The kernel reads path and arguments again after the decision,
 * so the caller is traced for this one call: seized while it waits, continued, and let go at the exec event, when the
 * supervisor has judged what is really there, and before the first instruction of it.
 *
 * The interruption that follows the seizure makes the caller stop in any case: at the exec event, or, if the call fails,
 * on its way back to the old program.
 */
#define _GNU_SOURCE
#include "doors.h"
#include "exec-cache.h"
#include "new-program.h"
#include "traced-exec.h"
#include "../kernel/notification.h"
#include "../kernel/procfs.h"
#include "../kernel/wake-signal.h"
#include "../session/broker-client.h"
#include "../tracee/memory.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_NS = 2 * 1000 * 1000 };

struct exec_window {
	struct exec_window *next;
	pid_t tid;     /* the caller; from the exec event on, its process */
	pid_t process;
	uint64_t id;
	enum {
		WINDOW_WAITS,    /* for another exec of its process: the kernel makes one at a time, and keeps seizers waiting */
		WINDOW_OPEN,     /* seized and continued */
		WINDOW_EXECUTED, /* at the exec event */
		WINDOW_DYING,    /* killed, and to be reaped by us before its parent */
		WINDOW_REFUSED,  /* answered; the supervisor is to hear why */
		WINDOW_TRACED,   /* another process traces it: the supervisor is to say whether it can be verified all the same */
		WINDOW_ASKED,
		WINDOW_STANDS,   /* at the exec event of its own tracer, which is held */
		WINDOW_RELEASES, /* not in an execve any more: to be let go at its next stop */
	} phase;
	int error;     /* why it could not be verified */
	struct held_tracer held;
	struct exec_note *note; /* what the call named, if the exec cache knows it or may learn it */
	uint32_t program_size;  /* of the new program in the buffer */
};

static int is_traced(const struct exec_window *w)
{
	return w->phase == WINDOW_OPEN || (w->phase == WINDOW_EXECUTED && w->held.tracer == 0) || w->phase == WINDOW_DYING ||
	       w->phase == WINDOW_RELEASES;
}

static pid_t process_of(pid_t tid)
{
	char status[4096];
	if (syscall(SYS_tgkill, tid, tid, 0) == 0 || errno == EPERM) /* ESRCH: it is not the leader */
		return tid;
	return procfs_text(tid, "status", status, sizeof status) > 0 ? (pid_t)procfs_number(status, "Tgid", 10) : 0;
}

static void forget(struct session *s, struct exec_window *w)
{
	struct exec_window **link = &s->exec_windows;
	while (*link != w)
		link = &(*link)->next;
	*link = w->next;
	free(w->note);
	free(w);
	if (s->exec_windows == NULL)
		s->exec_takes_long = 0;
}

static void forget_all(struct session *s)
{
	while (s->exec_windows != NULL)
		forget(s, s->exec_windows);
}

static void respond(struct session *s, uint64_t id, int error)
{
	struct seccomp_notif_resp response = { .id = id, .error = error };
	if (!error)
		response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	notification_respond(s->listener, &response);
}

static void refuse(struct session *s, struct exec_window *w, int error)
{
	w->error = error;
	w->phase = WINDOW_REFUSED;
	respond(s, w->id, -EPERM);
}

/* Seizes the caller, lets its call go on, and has it stop after it. */
static void start(struct session *s, struct exec_window *w)
{
	/* EXITKILL: if the supervisor dies meanwhile, nothing runs that it has not judged. */
	if (ptrace(PTRACE_SEIZE, w->tid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) < 0) {
		if (errno == EPERM)
			w->phase = WINDOW_TRACED;
		else
			refuse(s, w, errno);
		return;
	}
	w->phase = WINDOW_OPEN;
	/* If the caller has died, this id is unknown, and what was seized by its number is let go when it stops. */
	respond(s, w->id, 0);
	ptrace(PTRACE_INTERRUPT, w->tid, 0, 0);
}

static struct exec_window *open_in(struct session *s, pid_t process, const struct exec_window *but)
{
	for (struct exec_window *w = s->exec_windows; w != NULL; w = w->next)
		if (w != but && w->process == process && (w->phase == WINDOW_OPEN || w->phase == WINDOW_EXECUTED))
			return w;
	return NULL;
}

static void start_waiting(struct session *s)
{
	for (struct exec_window *w = s->exec_windows, *next; w != NULL; w = next) {
		next = w->next;
		if (w->phase != WINDOW_WAITS)
			continue;
		if (!notification_is_valid(s->listener, w->id))
			forget(s, w);
		else if (open_in(s, w->process, w) == NULL)
			start(s, w);
	}
}

/* A thread that is seized already because its last execve failed. The interruption may come only after its next call. */
static int open_again(struct session *s, const struct event *event, struct exec_note *note)
{
	struct exec_window *w = s->exec_windows;
	while (w != NULL && (w->tid != event->tid || (w->phase != WINDOW_OPEN && w->phase != WINDOW_RELEASES)))
		w = w->next;
	if (w == NULL)
		return 0;
	w->phase = WINDOW_OPEN;
	w->id = event->id;
	w->process = process_of(w->tid);
	free(w->note);
	w->note = note;
	respond(s, w->id, 0);
	ptrace(PTRACE_INTERRUPT, w->tid, 0, 0);
	return 1;
}

void exec_window_call(struct session *s, pid_t tid)
{
	for (struct exec_window *w = s->exec_windows; w != NULL; w = w->next)
		if (w->phase == WINDOW_OPEN && w->tid == tid) {
			w->phase = WINDOW_RELEASES;
			start_waiting(s);
			return;
		}
}

void exec_window_open(struct session *s, const struct event *event, int cached)
{
	struct exec_note *note = cached ? exec_cache_take_note(s, event->id) : NULL;
	if (open_again(s, event, note))
		return;
	pid_t process = process_of(event->tid);
	struct exec_window *w = process == 0 ? NULL : calloc(1, sizeof *w);
	if (w == NULL) {
		free(note);
		respond(s, event->id, -EAGAIN);
		return;
	}
	*w = (struct exec_window){ .next = s->exec_windows, .tid = event->tid, .process = process, .id = event->id,
				   .note = note };
	s->exec_windows = w;
	if (open_in(s, process, w) == NULL)
		start(s, w);
}

int exec_window_is_tracing(const struct session *s)
{
	for (const struct exec_window *w = s->exec_windows; w != NULL; w = w->next)
		if (is_traced(w))
			return 1;
	return 0;
}

static int report(struct session *s, enum event_kind kind, pid_t tid, pid_t peer, int64_t result)
{
	struct event *event = s->event;
	event->kind = kind;
	event->door = DOOR_NOTIFY;
	event->tid = tid;
	event->peer = peer;
	event->broker = s->broker;
	event->fetched = 0;
	event->id = 0;
	event->result = result;
	event_stamp(event);
	memory_log_stop(event);
	return 1;
}

/* A tracee that was killed cannot be detached any more. Its end has to be waited for: its parent hears of it only then. */
static void let_go(struct session *s, struct exec_window *w, int number)
{
	if (ptrace(PTRACE_DETACH, w->tid, 0, (long)number) == 0)
		forget(s, w);
	else
		w->phase = WINDOW_DYING;
	start_waiting(s);
}

static int goes_on_as_known(struct session *s, const struct exec_window *w)
{
	return w->note != NULL && w->note->is_known && w->held.tracer == 0 && exec_cache_is_same(s, w->note, w->program_size);
}

/* The new program stands before its first instruction. Returns whether the supervisor has to judge it. */
static int judge(struct session *s, struct exec_window *w, pid_t former)
{
	w->phase = WINDOW_EXECUTED;
	w->program_size = new_program_read(s, w->process);
	broker_settle(s->broker);
	if (goes_on_as_known(s, w)) {
		let_go(s, w, 0);
		return 0;
	}
	int was_known = w->note != NULL && w->note->is_known;
	if (was_known)
		exec_cache_forget(s, w->note);
	s->awaiting = 1;
	return report(s, EVENT_EXEC, w->process, former,
		      (w->program_size ? NEW_PROGRAM_READ : 0) | (was_known ? NEW_PROGRAM_CACHED : 0));
}

/* ------------------------------------------------------------------ of a program with a tracer of its own */

static void release_tracer(struct session *s, struct exec_window *w)
{
	struct exec_window *later = traced_exec_release(&w->held) ? NULL : calloc(1, sizeof *later);
	if (later == NULL)
		return;
	*later = (struct exec_window){ .next = s->exec_windows, .tid = w->held.tracer, .phase = WINDOW_RELEASES };
	s->exec_windows = later;
}

static void verify_traced(struct session *s, struct exec_window *w, pid_t tracer)
{
	char status[4096];
	/* An execve of the tracer's own process keeps seizers waiting. */
	int failed = open_in(s, process_of(tracer), w) != NULL ? -EBUSY : traced_exec_hold(&w->held, w->tid, tracer);
	if (failed == -EBUSY && w->held.tracer != 0)
		release_tracer(s, w);
	if (!failed && (procfs_text(w->tid, "status", status, sizeof status) <= 0 ||
			(pid_t)procfs_number(status, "TracerPid", 10) != tracer)) {
		release_tracer(s, w);
		failed = -EAGAIN;
	}
	if (failed) {
		refuse(s, w, EPERM);
		return;
	}
	respond(s, w->id, 0);
	int got = traced_exec_wait(&w->held, w->tid);
	w->phase = got > 0 ? WINDOW_STANDS : WINDOW_REFUSED;
	w->error = got < 0 ? -got : 0;
	if (got < 0)
		kill(w->process, SIGKILL); /* it may be executing still */
	if (got <= 0)
		release_tracer(s, w);
}

static int report_one(struct session *s, struct exec_window *w)
{
	switch (w->phase) {
	case WINDOW_REFUSED:
		report(s, EVENT_NOT_EXECUTED, w->tid, 0, w->error);
		forget(s, w);
		return 1;
	case WINDOW_TRACED:
		w->phase = WINDOW_ASKED;
		s->awaiting = 1;
		return report(s, EVENT_EXEC_TRACED, w->tid, 0, 0);
	case WINDOW_STANDS:
		return judge(s, w, w->tid);
	default:
		return 0;
	}
}

int exec_window_report(struct session *s)
{
	for (struct exec_window *w = s->exec_windows; w != NULL; w = w->next)
		if (report_one(s, w))
			return 1;
	return 0;
}

/* ------------------------------------------------------------------ stops */

static int on_exec(struct session *s, struct exec_window *w)
{
	pid_t former = w->tid;
	w->tid = w->process;
	return judge(s, w, former);
}

static struct exec_window *window_of(struct session *s, pid_t tid, int status)
{
	unsigned long former = 0;
	if (WIFSTOPPED(status) && status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8) &&
	    ptrace(PTRACE_GETEVENTMSG, tid, 0, &former) == 0 && former != 0)
		tid = (pid_t)former; /* the event comes from the leader's number, which the caller has taken over */
	for (struct exec_window *w = s->exec_windows; w != NULL; w = w->next)
		if (is_traced(w) && w->tid == tid)
			return w;
	return NULL;
}

static int on_status(struct session *s, pid_t tid, int status)
{
	struct exec_window *w = window_of(s, tid, status);
	if (tid == s->launcher)
		s->launcher = 0;
	if (w == NULL)
		return 0;
	if (!WIFSTOPPED(status)) {
		forget(s, w);
		start_waiting(s);
		return report(s, EVENT_NOT_EXECUTED, tid, 0, 0);
	}
	if (w->phase == WINDOW_DYING)
		return 0;
	if (w->phase == WINDOW_RELEASES) {
		let_go(s, w, status >> 16 ? 0 : WSTOPSIG(status));
		return 0;
	}
	if (status >> 16 == PTRACE_EVENT_EXEC)
		return on_exec(s, w);
	/* The call has failed, and the old program goes on. A signal on its way to it arrives. */
	broker_settle(s->broker);
	let_go(s, w, status >> 16 ? 0 : WSTOPSIG(status));
	return report(s, EVENT_NOT_EXECUTED, tid, 0, 0);
}

void exec_window_answer(struct session *s, const struct event *event)
{
	int goes_on = s->answer->action == ANSWER_CONTINUE, is_asked = event->kind == EVENT_EXEC_TRACED;
	struct exec_window *w = s->exec_windows;
	while (w != NULL && (w->phase != (is_asked ? WINDOW_ASKED : WINDOW_EXECUTED) || w->tid != event->tid))
		w = w->next;
	if (w == NULL)
		return;
	if (is_asked) {
		if (goes_on)
			verify_traced(s, w, (pid_t)s->answer->result);
		else
			refuse(s, w, EPERM);
		return;
	}
	if (!goes_on)
		kill(w->process, SIGKILL);
	else if (w->note != NULL && s->answer->flags & ANSWER_CACHE)
		exec_cache_learn(s, w->note, w->program_size);
	if (w->held.tracer != 0) {
		release_tracer(s, w);
		forget(s, w);
	} else if (goes_on) {
		let_go(s, w, 0);
	} else {
		w->phase = WINDOW_DYING;
		start_waiting(s);
	}
}

int exec_window_wait(struct session *s, int flags)
{
	int status;
	pid_t tid = waitpid(-1, &status, __WALL | __WNOTHREAD | flags);
	if (tid < 0 && errno == ECHILD) { /* all of them have gone */
		forget_all(s);
		return 0;
	}
	return tid < 0 ? -errno : tid == 0 ? -EAGAIN : on_status(s, tid, status);
}

static int set_patience(struct session *s, long nanoseconds)
{
	struct timespec tick = { 0, nanoseconds };
	struct itimerspec when = { tick, tick }; /* periodic: a signal that comes just before the wait is lost */
	struct sigevent how = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WAKE_SIGNAL };
	how._sigev_un._tid = s->worker;
	if (!s->has_patience && timer_create(CLOCK_MONOTONIC, &how, &s->patience) < 0)
		return -1;
	s->has_patience = 1;
	return timer_settime(s->patience, 0, &when, NULL);
}

/* An exec that has taken long once is not waited for alone again: other callers wait meanwhile. */
int exec_window_wait_briefly(struct session *s)
{
	if (s->exec_takes_long || set_patience(s, PATIENCE_NS) < 0)
		return -EAGAIN;
	int got = exec_window_wait(s, 0);
	set_patience(s, 0);
	if (got != -EINTR)
		return got;
	s->exec_takes_long = 1;
	return session_woken(s); /* it may have been another signal */
}

void exec_window_close(struct session *s)
{
	forget_all(s);
	if (s->has_patience)
		timer_delete(s->patience);
}
