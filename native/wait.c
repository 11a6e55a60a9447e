/* The wait: answer the last event, then block until there is another, from whichever door. */
#define _GNU_SOURCE
#include "attach.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPEAT_NS = 2 * 1000 * 1000, TURNS = 256 };

static int has_door(const struct session *s, enum door door)
{
	return (s->doors & 1 << door) != 0;
}

/* ------------------------------------------------------------------ the launcher's word */

void session_tell(struct session *s, enum supervisor_message kind, int value)
{
	struct message message = { kind, value };
	send(s->socket, &message, sizeof message, MSG_NOSIGNAL);
}

static int report(struct session *s, enum event_kind kind, int value)
{
	memset(s->event, 0, sizeof *s->event);
	s->event->kind = kind;
	s->event->tid = s->program;
	s->event->result = value;
	stamp(s->event);
	return 1;
}

/* Returns 1 when the launcher had something to say, 0 when not. */
static int hear_launcher(struct session *s, int flags)
{
	struct message message;
	ssize_t size = recv(s->socket, &message, sizeof message, flags);
	if (size < 0)
		return 0;
	if (size != (ssize_t)sizeof message) { /* it died: so did everything that it could not hold */
		s->over = 1;
		return report(s, EVENT_OVER, -1);
	}
	session_tell(s, TELL_HEARD, 0);
	switch (message.kind) {
	case SAY_MAIN_EXIT:
		return report(s, EVENT_MAIN_EXIT, message.value);
	case SAY_MAIN_STOP:
		return report(s, EVENT_MAIN_STOP, message.value);
	case SAY_OVER:
		s->over = 1;
		return report(s, EVENT_OVER, 0);
	default:
		return 0;
	}
}

/* ------------------------------------------------------------------ one door alone */

static int listener_hung_up(struct session *s)
{
	struct pollfd fd = { s->listener, POLLIN, 0 };
	return poll(&fd, 1, 0) > 0 && (fd.revents & POLLHUP);
}

static int woken(struct session *s)
{
	return hear_launcher(s, MSG_DONTWAIT) || report(s, EVENT_WOKEN, 0);
}

/* Nothing is subscribed: only the program's end is left to wait for. */
static int next_message(struct session *s)
{
	return hear_launcher(s, 0) || report(s, EVENT_WOKEN, 0);
}

static int next_notify(struct session *s)
{
	int got = notify_receive(s);
	if (got == -EINTR)
		return woken(s);
	/* ENOENT: the caller died before we took its request, or (Linux 6.11) nobody is left to make one. */
	if (got == -ENOENT && listener_hung_up(s))
		return hear_launcher(s, 0) || woken(s);
	if (got < 0 && got != -ENOENT)
		return got;
	return got == -ENOENT ? 0 : got;
}

/* Nobody is left to wait for. Without a launcher or a keeper that is the end. */
static int no_tracee(struct session *s)
{
	if (!s->attached || s->socket >= 0)
		return hear_launcher(s, 0) || woken(s);
	tracee_forget_all(s);
	return 0;
}

static int next_trace(struct session *s)
{
	int got = trace_wait(s, 1);
	if (got == -EINTR)
		return woken(s);
	if (got == -ECHILD)
		return no_tracee(s);
	return got;
}

/* ------------------------------------------------------------------ both doors */

/*
 * The worker cannot wait for the listener and for ptrace stops at once. It looks at both for a moment; then it waits
 * for stops, and only then the pump waits for the listener and interrupts it. A signal sent just before the worker
 * blocks is lost, so the pump repeats it until the worker has consumed something.
 */
static void *run_pump(void *argument)
{
	struct session *s = argument;
	sigset_t every;
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, NULL);
	for (;;) {
		while (!atomic_load(&s->pump.worker_waits))
			syscall(SYS_futex, &s->pump.worker_waits, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
		struct pollfd fds[2] = { { s->listener, POLLIN, 0 }, { s->pump.stop[0], POLLIN, 0 } };
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return NULL;
		if (fds[1].revents || fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			return NULL;
		if (!fds[0].revents)
			continue;
		unsigned int seen = atomic_load(&s->pump.consumed);
		if (!atomic_load(&s->pump.worker_waits))
			continue;
		syscall(SYS_tgkill, getpid(), s->worker, WAKE_SIGNAL);
		struct timespec patience = { 0, 200 * 1000 };
		syscall(SYS_futex, &s->pump.consumed, FUTEX_WAIT_PRIVATE, seen, &patience, NULL, 0);
	}
}

static void worker_sleeps(struct session *s)
{
	atomic_store(&s->pump.worker_waits, 1);
	syscall(SYS_futex, &s->pump.worker_waits, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void worker_is_awake(struct session *s)
{
	atomic_store(&s->pump.worker_waits, 0);
}

static int start_pump(struct session *s)
{
	if (pipe(s->pump.stop) < 0)
		return -errno;
	int failed = pthread_create(&s->pump.thread, NULL, run_pump, s);
	if (failed)
		return -failed;
	s->pump.running = 1;
	return 0;
}

static int listener_ready(struct session *s)
{
	struct pollfd fd = { s->listener, POLLIN, 0 };
	return poll(&fd, 1, 0) > 0 && (fd.revents & POLLIN);
}

static int receive_beside_pump(struct session *s)
{
	int got = notify_receive(s);
	atomic_fetch_add(&s->pump.consumed, 1);
	syscall(SYS_futex, &s->pump.consumed, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return got == -ENOENT || got == -EINTR ? 0 : got;
}

/* The next event of either door often comes within microseconds: see stop.c. Returns whether there was one. */
static int look_at_both(struct session *s, int *got)
{
	if (!look_begins(s) && !s->acting)
		return 0;
	int64_t from = look_time();
	int found;
	do {
		*got = listener_ready(s) ? receive_beside_pump(s) : trace_look(s);
		found = *got != -EAGAIN;
		if (!found)
			sched_yield();
	} while (!found && look_goes_on(from));
	look_ended(s, from, found);
	return found;
}

static int next_of_both(struct session *s)
{
	int got;
	if (!s->pump.running && (got = start_pump(s)) < 0)
		return got;
	if (!look_at_both(s, &got)) {
		worker_sleeps(s);
		got = listener_ready(s) ? receive_beside_pump(s) : trace_wait(s, 0);
		worker_is_awake(s);
	}
	if (got == -EINTR)
		return listener_ready(s) ? 0 : woken(s);
	if (got == -ECHILD)
		return no_tracee(s);
	return got;
}

static void stop_pump(struct session *s)
{
	if (!s->pump.running)
		return;
	int told = write(s->pump.stop[1], "s", 1) == 1;
	worker_sleeps(s); /* it looks at that pipe only then */
	if (told)
		pthread_join(s->pump.thread, NULL);
	close(s->pump.stop[0]);
	close(s->pump.stop[1]);
	s->pump.running = 0;
}

/* ------------------------------------------------------------------ what the addon calls */

void session_resume(struct session *s, const struct event *held)
{
	if (held->door == DOOR_NOTIFY)
		notify_answer(s, held);
	else
		trace_answer(s, held);
	/* What nobody needs any more. Those of an event that is held were taken away by whoever holds it. */
	for (int i = 0; i < MAX_PINS; i++)
		pin_release(&session_pins(s)[i]);
}

/* Returns the kind of the event that is now in the buffer, or -errno when the wait itself failed. */
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
		return report(s, EVENT_OVER, 0), EVENT_OVER;
	while (got == 0) {
		if (s->attached && (got = attach_over(s)))
			break;
		/* Where there is always another stop we never block, and so are never interrupted: look up now and then. */
		if (++s->turns % TURNS == 0 && (got = woken(s)))
			break;
		/* Without a listener the program has failed to start. One that is traced must be seen to its end. */
		int notify = has_door(s, DOOR_NOTIFY) && s->listener >= 0 && !s->leaving, trace = has_door(s, DOOR_TRACE);
		if (!notify && !trace)
			got = next_message(s);
		else if (!trace)
			got = next_notify(s);
		else if (!notify)
			got = next_trace(s);
		else
			got = next_of_both(s);
	}
	return got < 0 ? got : (int)s->event->kind;
}

/* Interrupts the wait after that many milliseconds, and again every 2 ms until called with 0. */
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
 * Without its supervisor the launcher ends whatever is left; then it goes too. What we trace only we can bury, and the
 * launcher waits for that.
 */
static void wait_for_launcher(struct session *s)
{
	while (s->launcher > 0) {
		int status;
		pid_t pid = waitpid(s->tracee_count > 0 ? -1 : s->launcher, &status, __WALL | __WNOTHREAD);
		if (pid == s->launcher || (pid < 0 && errno != EINTR))
			s->launcher = 0;
		else if (pid > 0 && WIFSTOPPED(status) && kill(pid, SIGKILL) == 0)
			ptrace(PTRACE_CONT, pid, 0, 0);
	}
}

void session_close(struct session *s)
{
	stop_pump(s);
	if (s->has_deadline)
		timer_delete(s->deadline);
	if (s->socket >= 0)
		close(s->socket);
	if (s->listener >= 0)
		close(s->listener);
	if (!s->attached)
		wait_for_launcher(s);
	else if (s->launcher > 0) /* a keeper stays as long as there is somebody to keep */
		waitpid(s->launcher, NULL, __WALL | WNOHANG);
	if (s->plan != NULL)
		munmap(s->plan, s->plan_size);
	tracee_forget_all(s);
	origin_close(&s->origins);
}
