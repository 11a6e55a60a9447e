/*
 * Waiting at both doors. The worker cannot wait for the listener and for ptrace stops at once. It waits where the last
 * event came from, because the next one mostly comes from there too. A small thread (a pump) watches the other door and
 * interrupts the worker. A signal sent just before the worker blocks is lost, so it is repeated until the worker has
 * looked.
 */
#define _GNU_SOURCE
#include "doors.h"
#include "../kernel/clock.h"
#include "../kernel/futex.h"
#include "../kernel/wake-signal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_NS = 200 * 1000, LONG_PATIENCE_NS = 5 * 1000 * 1000, ENOUGH = 20 };

static void worker_sleeps(struct pump *pump)
{
	atomic_store(&pump->worker_waits, 1);
	if (atomic_load(&pump->rests))
		futex_wake(&pump->worker_waits);
}

/* The pump sleeps while the worker is awake. */
static void rest(struct pump *pump)
{
	atomic_store(&pump->rests, 1);
	futex_wait(&pump->worker_waits, 0, 0);
	atomic_store(&pump->rests, 0);
}

static void worker_is_awake(struct pump *pump)
{
	atomic_store(&pump->worker_waits, 0);
}

static void worker_looked(struct pump *pump)
{
	atomic_fetch_add(&pump->consumed, 1);
	futex_wake(&pump->consumed);
}

static void wake_worker(struct session *s, struct pump *pump, long patience)
{
	unsigned int seen = atomic_load(&pump->consumed);
	if (!atomic_load(&pump->worker_waits))
		return;
	syscall(SYS_tgkill, getpid(), s->worker, WAKE_SIGNAL);
	futex_wait(&pump->consumed, seen, patience);
}

/* ------------------------------------------------------------------ while the worker waits for stops */

static void *watch_listener(void *argument)
{
	struct session *s = argument;
	struct pump *pump = &s->listener_pump;
	sigset_t every;
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, NULL);
	for (;;) {
		while (!atomic_load(&pump->worker_waits))
			rest(pump);
		struct pollfd fds[2] = { { session_door(s), POLLIN, 0 }, { pump->stop[0], POLLIN, 0 } };
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return NULL;
		if (fds[1].revents || fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			return NULL;
		if (fds[0].revents)
			wake_worker(s, pump, PATIENCE_NS);
	}
}

static int listener_ready(struct session *s)
{
	struct pollfd fd = { session_door(s), POLLIN, 0 };
	return poll(&fd, 1, 0) > 0 && (fd.revents & (POLLIN | POLLHUP)) == POLLIN;
}

static int receive(struct session *s)
{
	int got = notify_receive(s);
	worker_looked(&s->listener_pump);
	return got == -ENOENT || got == -EINTR ? 0 : got;
}

static int stops_without_waiting(struct session *s)
{
	return s->exec_windows ? exec_window_wait(s, WNOHANG) : trace_poll(s);
}

/* The next event of either door often comes within microseconds (stop-wait.c). Returns whether there was one. */
static int spin_at_both(struct session *s, int *got)
{
	if (!spin_begins(s) && !s->on_behalf_count)
		return 0;
	int64_t from = monotonic_ns();
	int found;
	do {
		*got = listener_ready(s) ? receive(s) : stops_without_waiting(s);
		found = *got != -EAGAIN;
		if (!found)
			sched_yield();
	} while (!found && spin_goes_on(from));
	spin_ended(s, from, found);
	return found;
}

static int next_at_stops(struct session *s)
{
	int got;
	if (!spin_at_both(s, &got)) {
		worker_sleeps(&s->listener_pump);
		got = listener_ready(s) ? receive(s) : s->exec_windows ? exec_window_wait(s, 0) : trace_wait(s, 0);
		worker_is_awake(&s->listener_pump);
	}
	if (got == -EINTR)
		return listener_ready(s) ? 0 : session_woken(s);
	return got == -ECHILD ? session_no_tracee(s) : got;
}

/* ------------------------------------------------------------------ while the worker waits at the listener */

/*
 * Watches the stops of the worker's tracees, and leaves them for the worker (WNOWAIT). It sees children of other threads
 * too; one that is never reaped makes it poll less often.
 */
static void *watch_stops(void *argument)
{
	struct session *s = argument;
	struct pump *pump = &s->stop_pump;
	sigset_t every;
	sigfillset(&every);
	sigdelset(&every, WAKE_SIGNAL); /* interrupts waitid() below */
	pthread_sigmask(SIG_SETMASK, &every, NULL);
	while (!atomic_load(&pump->ends)) {
		siginfo_t info;
		if (!atomic_load(&pump->worker_waits)) {
			rest(pump);
			continue;
		}
		if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL) < 0) {
			if (errno != EINTR)
				usleep(PATIENCE_NS / 1000);
			continue;
		}
		atomic_store(&pump->saw, 1);
		wake_worker(s, pump, atomic_load(&pump->in_vain) < ENOUGH ? PATIENCE_NS : LONG_PATIENCE_NS);
		if (atomic_load(&pump->in_vain) >= ENOUGH)
			usleep(LONG_PATIENCE_NS / 1000);
	}
	return NULL;
}

/*
 * The worker takes what the pump saw before it waits for the next notification, because notifications may come without a
 * pause.
 */
static int take_stop(struct session *s)
{
	atomic_store(&s->stop_pump.saw, 0);
	int got = trace_poll(s);
	atomic_store(&s->stop_pump.in_vain, got == -EAGAIN ? atomic_load(&s->stop_pump.in_vain) + 1 : 0);
	worker_looked(&s->stop_pump);
	if (got == -EAGAIN)
		return 0;
	s->at_listener = 0;
	return got == -ECHILD ? session_no_tracee(s) : got;
}

static int next_at_listener(struct session *s)
{
	if (atomic_load(&s->stop_pump.saw) || s->ended || s->newborn)
		return take_stop(s);
	worker_sleeps(&s->stop_pump);
	int got = notify_receive(s);
	worker_is_awake(&s->stop_pump);
	if (got == -ENOENT && session_hung_up(s))
		s->at_listener = 0;
	if (got == -EINTR)
		return atomic_load(&s->stop_pump.saw) ? 0 : session_woken(s);
	return got == -ENOENT ? 0 : got;
}

/* ------------------------------------------------------------------ both */

static int start_listener_pump(struct session *s)
{
	if (s->listener_pump.running)
		return 0;
	if (pipe2(s->listener_pump.stop, O_CLOEXEC) < 0)
		return -errno;
	int failed = pthread_create(&s->listener_pump.thread, NULL, watch_listener, s);
	s->listener_pump.running = !failed;
	return -failed;
}

static int start(struct session *s)
{
	int failed = start_listener_pump(s);
	if (failed)
		return failed;
	failed = pthread_create(&s->stop_pump.thread, NULL, watch_stops, s);
	s->stop_pump.running = !failed;
	return -failed;
}

int both_next(struct session *s)
{
	int failed = s->stop_pump.running ? 0 : start(s);
	if (failed)
		return failed;
	return s->at_listener && !s->on_behalf_count ? next_at_listener(s) : next_at_stops(s);
}

/* Most execs take less time than it takes to watch both. */
int both_next_exec(struct session *s)
{
	int got = exec_window_wait_briefly(s);
	if (got != -EAGAIN)
		return got;
	int failed = start_listener_pump(s);
	return failed ? failed : next_at_stops(s);
}

void both_close(struct session *s)
{
	struct pump *pump = &s->listener_pump;
	if (pump->running) {
		int written = write(pump->stop[1], "s", 1) == 1;
		worker_sleeps(pump); /* the pump looks at that pipe only then */
		if (written)
			pthread_join(pump->thread, NULL);
		close(pump->stop[0]);
		close(pump->stop[1]);
		pump->running = 0;
	}
	pump = &s->stop_pump;
	if (pump->running) {
		atomic_store(&pump->ends, 1);
		worker_sleeps(pump);
		while (pthread_tryjoin_np(pump->thread, NULL) != 0) {
			pthread_kill(pump->thread, WAKE_SIGNAL);
			usleep(PATIENCE_NS / 1000);
		}
		pump->running = 0;
	}
}
