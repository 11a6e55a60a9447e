/* Calls that may block, each made by a thread of its own, so that only the caller waits. */
#define _GNU_SOURCE
#include "blocking-call.h"
#include "../kernel/abi.h"
#include "../kernel/clock.h"
#include "../kernel/notification.h"
#include "../kernel/thread-fs.h"
#include "../kernel/wake-signal.h"
#include "../protocol/keeper.h"
#include "../tracee/fd-copy.h"
#include "../tracee/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FIRST_TICK_MS = 50, LAST_TICK_MS = 400 };

/* Limits what programs with very many blocked threads can cost this process. */
enum { MAX_BLOCKING_CALLS = 4096, STACK_SIZE = 512 * 1024 };
static atomic_int blocking_calls; /* of all sessions of the process */

struct blocking_call {
	int listener;
	struct keeper_memory *keeper;
	uint64_t id;
	struct on_behalf_call *call;
	int not_made; /* the call was not made: let the program make it itself */
};

static int64_t milliseconds(void)
{
	return monotonic_ns() / 1000000;
}

/* Each of our interruptions restarts a socket's own timeout, so we check it here. */
static int out_of_time(const struct on_behalf_call *call, int64_t since)
{
	struct timeval limit = { 0, 0 };
	socklen_t size = sizeof limit;
	int fd = copy_tracee_fd(call->tid, (int)call->args[0]);
	if (fd < 0)
		return 1;
	int failed = getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &size);
	close(fd);
	int64_t allowed = limit.tv_sec * 1000 + limit.tv_usec / 1000;
	return failed == 0 && allowed > 0 && milliseconds() - since >= allowed;
}

static int is_socket_call(int nr)
{
	return nr == SYS_connect || nr == SYS_sendto || nr == SYS_sendmsg || nr == SYS_sendmmsg;
}

/* Every tick: whether the caller has died, or has a signal that interrupts it. */
static int interrupted(struct blocking_call *b, int64_t since, int *seen, int64_t *result)
{
	struct identity identity;
	if (b->keeper != NULL && atomic_load(&b->keeper->leaving)) {
		b->not_made = 1;
		return 1;
	}
	if (!notification_is_valid(b->listener, b->id) || identity_read(b->call->tid, &identity) < 0) {
		*result = -EINTR;
		return 1;
	}
	if (is_socket_call(b->call->nr) && out_of_time(b->call, since)) {
		*result = b->call->nr == SYS_connect ? -EINPROGRESS : -EAGAIN;
		return 1;
	}
	/*
	 * A signal for the whole process may go to another thread. If it is still pending a tick later, no other thread
	 * has taken it.
	 */
	int waits = identity.signals_pending != 0 || identity.signals_shared != 0;
	*seen = waits ? *seen + 1 : 0;
	*result = -ERESTARTSYS;
	return identity.signals_pending != 0 || *seen > 1;
}

/* Long waits are checked less often: there may be a thousand of them. */
static void interrupt_every(timer_t timer, int ms)
{
	struct timespec tick = { 0, ms * 1000000L };
	struct itimerspec when = { tick, tick };
	timer_settime(timer, 0, &when, NULL);
}

static void *blocking_call_thread(void *argument)
{
	struct blocking_call *b = argument;
	struct sigevent how = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WAKE_SIGNAL };
	struct outcome outcome = { .result = -EAGAIN, .fd = -1 };
	timer_t timer;
	sigset_t mask;
	sigfillset(&mask);
	sigdelset(&mask, WAKE_SIGNAL);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	how._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	thread_fs_unshare(); /* its own umask and cwd; without them a proxy process makes the call */
	if (timer_create(CLOCK_MONOTONIC, &how, &timer) == 0) {
		int64_t since = milliseconds();
		int seen = 0, tick = FIRST_TICK_MS;
		do {
			interrupt_every(timer, tick);
			outcome = on_behalf_make(b->call);
			tick = 2 * tick < LAST_TICK_MS ? 2 * tick : LAST_TICK_MS;
		} while (outcome.fd < 0 && outcome.result == -EINTR && !interrupted(b, since, &seen, &outcome.result));
		timer_delete(timer);
	}
	/* Bytes that have gone must not be sent again: the caller gets their number. */
	int64_t sent = outcome.fd < 0 && outcome.result < 0 ? on_behalf_bytes_sent(b->call) : 0;
	if (sent != 0)
		outcome.result = sent;
	on_behalf_free(b->call); /* closes the pins before the caller goes on */
	if (b->not_made && sent == 0)
		notification_continue(b->listener, b->id);
	else
		on_behalf_answer(b->listener, NULL, b->id, &outcome);
	close(b->listener);
	if (b->keeper != NULL) {
		keeper_release(b->keeper, b->id);
		atomic_fetch_sub(&b->keeper->blocking_calls, 1);
	}
	free(b);
	atomic_fetch_sub(&blocking_calls, 1);
	return NULL;
}

static int start(int listener, struct keeper_memory *keeper, uint64_t id, struct on_behalf_call *call)
{
	pthread_t thread;
	pthread_attr_t attributes;
	struct blocking_call *b = malloc(sizeof *b);
	if (b == NULL)
		return -ENOMEM;
	*b = (struct blocking_call){ fcntl(listener, F_DUPFD_CLOEXEC, 3), keeper, id, call, 0 };
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	int failed = b->listener < 0 ? errno : 0;
	if (!failed && atomic_fetch_add(&blocking_calls, 1) >= MAX_BLOCKING_CALLS)
		failed = EAGAIN;
	else if (!failed && !keeper_hold(keeper, id))
		failed = EAGAIN;
	if (!failed && keeper != NULL)
		atomic_fetch_add(&keeper->blocking_calls, 1);
	if (!failed && (failed = pthread_create(&thread, &attributes, blocking_call_thread, b)) && keeper != NULL)
		atomic_fetch_sub(&keeper->blocking_calls, 1);
	pthread_attr_destroy(&attributes);
	if (!failed)
		return 0;
	if (b->listener >= 0) {
		atomic_fetch_sub(&blocking_calls, 1);
		close(b->listener);
	}
	free(b);
	return -failed;
}

void on_behalf_serve(int listener, struct keeper_memory *keeper, uint64_t id, struct on_behalf_call *call)
{
	struct outcome outcome = { .fd = -1 };
	int waits = on_behalf_may_block(call);
	if (!waits) {
		call->no_wait = 1;
		do
			outcome = on_behalf_make(call);
		while (outcome.fd < 0 && outcome.result == -EINTR); /* our own wake-up: the caller's signals do not reach us */
		waits = on_behalf_must_wait(call, &outcome);
	}
	if (waits) {
		call->no_wait = 0;
		outcome.result = start(listener, keeper, id, call);
		if (outcome.result == 0)
			return;
	}
	on_behalf_free(call); /* before the caller goes on: a pin may be a copy of its own descriptor */
	on_behalf_answer(listener, keeper, id, &outcome);
}
