/* A session's wait: answers the last event, then blocks until the next, from either door. */
#define _GNU_SOURCE
#include "session.h"
#include "../doors/doors.h"
#include "../doors/exec-cache.h"
#include "../kernel/futex.h"
#include "../kernel/notification.h"
#include "../kernel/wake-signal.h"
#include "../protocol/verdict-cache.h"
#include "attach.h"
#include "broker-client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPEAT_NS = 2 * 1000 * 1000, TURNS = 256 };

static int has_door(const struct session *s, enum door door)
{
	return (s->doors & 1 << door) != 0;
}

/* ------------------------------------------------------------------ messages of the launcher */

void session_send(struct session *s, enum supervisor_message kind, int value)
{
	struct message message = { kind, value };
	send(s->socket, &message, sizeof message, MSG_NOSIGNAL);
}

int session_report(struct session *s, enum event_kind kind, int value)
{
	memset(s->event, 0, sizeof *s->event);
	s->event->kind = kind;
	s->event->tid = s->program;
	s->event->result = value;
	event_stamp(s->event);
	return 1;
}

/* Returns 1 when a message of the launcher became an event, 0 when not. */
static int read_launcher(struct session *s, int flags)
{
	struct message message;
	ssize_t size = recv(s->socket, &message, sizeof message, flags);
	if (size < 0)
		return 0;
	if (size != (ssize_t)sizeof message) { /* it has died, and with it everything that it supervised */
		s->over = 1;
		return session_report(s, EVENT_OVER, -1);
	}
	session_send(s, SUPERVISOR_ACK, 0);
	switch (message.kind) {
	case LAUNCHER_MAIN_EXIT:
		return session_report(s, EVENT_MAIN_EXIT, message.value);
	case LAUNCHER_MAIN_STOP:
		return session_report(s, EVENT_MAIN_STOP, message.value);
	case LAUNCHER_OVER:
		s->over = 1;
		return session_report(s, EVENT_OVER, 0);
	default:
		return 0;
	}
}

/* ------------------------------------------------------------------ one door alone */

int session_listens(const struct session *s)
{
	return s->broker <= 0 || s->has_listener;
}

int session_door(const struct session *s)
{
	return session_listens(s) ? s->listener : s->calls;
}

void session_hand_back(struct session *s)
{
	if (!s->has_listener)
		return;
	s->has_listener = 0;
	atomic_store(&s->verdict_cache->supervisor_listens, 0);
	futex_wake_shared(&s->verdict_cache->supervisor_listens);
}

int session_hung_up(struct session *s)
{
	return listener_has_hung_up(session_door(s));
}

int session_woken(struct session *s)
{
	return read_launcher(s, MSG_DONTWAIT) || session_report(s, EVENT_WOKEN, 0);
}

/* No call is subscribed to: wait for the program's end. */
static int next_message(struct session *s)
{
	return read_launcher(s, 0) || session_report(s, EVENT_WOKEN, 0);
}

static int next_notify(struct session *s)
{
	int got = notify_receive(s);
	if (got == -EINTR)
		return session_woken(s);
	/* ENOENT: the caller died before we took its request, or (Linux 6.11) no process with the filter is left. */
	if (got == -ENOENT && session_hung_up(s))
		return read_launcher(s, 0) || session_woken(s);
	if (got < 0 && got != -ENOENT)
		return got;
	return got == -ENOENT ? 0 : got;
}

/* No tracee is left. Without a launcher or a keeper that is the session's end. */
int session_no_tracee(struct session *s)
{
	if (!s->attached || s->socket >= 0)
		return read_launcher(s, 0) || session_woken(s);
	tracee_forget_all(s);
	return 0;
}

static int next_trace(struct session *s)
{
	int got = trace_wait(s, 1);
	if (got == -EINTR)
		return session_woken(s);
	if (got == -ECHILD)
		return session_no_tracee(s);
	return got;
}

/* ------------------------------------------------------------------ what the addon calls */

/* The pins of a held event were taken by the code that holds it. */
static void release_pins(struct session *s, void (*release)(struct pin *))
{
	for (int i = 0; i < MAX_PINS; i++)
		release(&session_pins(s)[i]);
}

void session_resume(struct session *s, const struct event *held)
{
	if (s->broker > 0)
		broker_drop_early_resolution(s->broker);
	/* Before the caller goes on: a pin may be a copy of its own descriptor. A verified execve stops before that. */
	if (s->answer->action != ANSWER_ON_BEHALF)
		release_pins(s, s->answer->flags & ANSWER_VERIFY ? broker_release_later : broker_release);
	if (held->door == DOOR_NOTIFY)
		notify_answer(s, held);
	else
		trace_answer(s, held);
	release_pins(s, broker_release);
}

int session_next(struct session *s)
{
	int got = 0;
	if (s->awaiting) {
		s->awaiting = 0;
		session_resume(s, s->event);
	}
	if (s->wants_to_leave)
		attach_leave(s);
	if (s->over)
		return session_report(s, EVENT_OVER, 0), EVENT_OVER;
	while (got == 0) {
		if (s->attached && (got = attach_poll_end(s)))
			break;
		/*
		 * Where stops come without a pause we never block, and so are never interrupted: check for messages now
		 * and then.
		 */
		if (++s->turns % TURNS == 0 && (got = session_woken(s)))
			break;
		/* Without a listener the program has failed to start. A traced program must be followed to its end. */
		int notify = has_door(s, DOOR_NOTIFY) && s->listener >= 0 && !s->leaving, trace = has_door(s, DOOR_TRACE);
		if (!notify && !trace)
			got = next_message(s);
		else if (!trace)
			got = exec_window_report(s) ? 1 : exec_window_is_tracing(s) ? both_next_exec(s) : next_notify(s);
		else if (!notify)
			got = next_trace(s);
		else
			got = both_next(s);
	}
	return got < 0 ? got : (int)s->event->kind;
}

int session_deadline(struct session *s, int64_t milliseconds)
{
	if (!s->has_deadline) {
		struct sigevent how = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WAKE_SIGNAL };
		how._sigev_un._tid = s->worker;
		if (timer_create(CLOCK_MONOTONIC, &how, &s->deadline) < 0)
			return -errno;
		s->has_deadline = 1;
	}
	struct itimerspec when = { { 0, 0 }, { 0, 0 } };
	if (milliseconds > 0) {
		when.it_value.tv_sec = milliseconds / 1000;
		when.it_value.tv_nsec = milliseconds % 1000 * 1000000;
		when.it_interval.tv_nsec = REPEAT_NS;
	}
	return timer_settime(s->deadline, 0, &when, NULL) < 0 ? -errno : 0;
}

/*
 * Without its supervisor the launcher kills every process that is left and exits. Only we can reap what we trace, and the
 * launcher waits for that.
 */
static void wait_for_launcher(struct session *s)
{
	while (s->launcher > 0) {
		int status;
		pid_t pid = waitpid(s->tracee_count > 0 || s->exec_windows ? -1 : s->launcher, &status, __WALL | __WNOTHREAD);
		if (pid == s->launcher || (pid < 0 && errno != EINTR))
			s->launcher = 0;
		else if (pid > 0 && WIFSTOPPED(status) && kill(pid, SIGKILL) == 0)
			ptrace(PTRACE_CONT, pid, 0, 0);
	}
}

void session_close(struct session *s)
{
	both_close(s);
	if (s->has_deadline)
		timer_delete(s->deadline);
	exec_window_close(s);
	if (s->socket >= 0)
		close(s->socket);
	if (s->listener >= 0)
		close(s->listener);
	if (s->broker > 0)
		broker_close(s->broker);
	if (s->calls >= 0)
		close(s->calls);
	if (!s->attached)
		wait_for_launcher(s);
	else if (s->launcher > 0) /* a keeper stays as long as its process has the filter */
		waitpid(s->launcher, NULL, __WALL | WNOHANG);
	if (s->verdict_cache != NULL) {
		munmap(s->verdict_cache, sizeof *s->verdict_cache);
		close(s->verdict_cache_fd);
	}
	if (s->plan != NULL)
		munmap(s->plan, s->plan_size);
	session_close_view(s);
	tracee_forget_all(s);
	exec_cache_free(s);
	cwd_cache_close(&s->cwd_cache);
}
