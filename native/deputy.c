/* See deputy.h. */
#define _GNU_SOURCE
#include "deputy.h"
#include "identity.h"
#include "keep.h"
#include "standin.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

enum { FIRST_TICK_MS = 50, LAST_TICK_MS = 400, RESTART = 512 }; /* ERESTARTSYS: the kernel makes the call again, or EINTR of it */

/* A program with very many threads that all wait must not cost us without end. */
enum { MAX_DEPUTIES = 4096, STACK_SIZE = 512 * 1024 };
static atomic_int deputies;

struct deputy {
	int listener;
	struct keep *keep;
	uint64_t id;
	struct act *act;
	int leaves; /* it has not been made: the program may make it itself */
};

/* Before Linux 5.19 any signal takes the caller back between two steps of ours. */
static int callers_stay(void)
{
	static atomic_int known; /* 1: yes, -1: no */
	if (known == 0) {
		unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
		long tried = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, NULL);
		known = tried < 0 && errno == EFAULT ? 1 : -1;
	}
	return known > 0;
}

/*
 * A signal here would be a disaster: the kernel has marked the call as answered, takes the descriptor back, and the
 * program sees 0, which it takes for its stdin.
 */
static int put_descriptor(int listener, uint64_t id, const struct outcome *outcome, uint32_t flags)
{
	struct seccomp_notif_addfd add = { .id = id, .flags = flags, .srcfd = (uint32_t)outcome->fd,
					   .newfd_flags = outcome->fd_flags };
	sigset_t every, before;
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	int put;
	do
		put = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	while (put < 0 && errno == EAGAIN);
	int failed = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return put < 0 ? -failed : put;
}

/*
 * The number that the descriptor has in the caller, or -errno. A file is emptied only once the caller has it: where no
 * number is left (EMFILE), nothing is lost.
 */
static int64_t hand_over(int listener, uint64_t id, const struct outcome *outcome)
{
	int64_t number = put_descriptor(listener, id, outcome, 0);
	int failed = number >= 0 && outcome->truncates ? act_truncate(outcome) : 0;
	return failed ? failed : number;
}

static void send_result(int listener, uint64_t id, int64_t result)
{
	struct seccomp_notif_resp response = { .id = id };
	if (result < 0)
		response.error = (int32_t)result;
	else
		response.val = result;
	while (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response) < 0 && errno == EINTR)
		;
}

/*
 * Our copy of a descriptor is closed before the caller goes on: one that outlives the call keeps a file from being
 * executed (ETXTBSY), a lock from being released, and IN_CLOSE_WRITE from being told.
 */
static void respond(int listener, uint64_t id, const struct outcome *outcome)
{
	int64_t result = outcome->result;
	int in_one_step = outcome->fd >= 0 && !outcome->truncates && !callers_stay();
	if (in_one_step)
		result = put_descriptor(listener, id, outcome, SECCOMP_ADDFD_FLAG_SEND);
	else if (outcome->fd >= 0)
		result = hand_over(listener, id, outcome);
	if (outcome->fd >= 0)
		close(outcome->fd);
	if (!in_one_step || result < 0)
		send_result(listener, id, result);
}

static void let_happen(int listener, uint64_t id)
{
	struct seccomp_notif_resp response = { .id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	while (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response) < 0 && errno == EINTR)
		;
}

static int64_t milliseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A socket may have a time limit of its own, which our interruptions start anew each time. */
static int out_of_time(const struct act *act, int64_t since)
{
	struct timeval limit = { 0, 0 };
	socklen_t size = sizeof limit;
	int fd = descriptor_of(act->tid, (int)act->args[0]);
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

/* Every tick: is the caller still there, and does a signal want it to stop waiting? */
static int interrupted(struct deputy *d, int64_t since, int *seen, int64_t *result)
{
	struct identity identity;
	if (d->keep != NULL && atomic_load(&d->keep->leaving)) {
		d->leaves = 1;
		return 1;
	}
	if (ioctl(d->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &d->id) < 0 || identity_read(d->act->tid, &identity) < 0) {
		*result = -EINTR;
		return 1;
	}
	if (is_socket_call(d->act->nr) && out_of_time(d->act, since)) {
		*result = d->act->nr == SYS_connect ? -EINPROGRESS : -EAGAIN;
		return 1;
	}
	/* One for the whole process may be another thread's; if it is still there a tick later, nobody else wants it. */
	int waits = identity.signals_pending != 0 || identity.signals_shared != 0;
	*seen = waits ? *seen + 1 : 0;
	*result = -RESTART;
	return identity.signals_pending != 0 || *seen > 1;
}

/* Whoever waits long is looked after less often: there may be a thousand of them. */
static void interrupt_every(timer_t timer, int ms)
{
	struct timespec tick = { 0, ms * 1000000L };
	struct itimerspec when = { tick, tick };
	timer_settime(timer, 0, &when, NULL);
}

static void *run_deputy(void *argument)
{
	struct deputy *d = argument;
	struct sigevent how = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WAKE_SIGNAL };
	struct outcome outcome = { .result = -EAGAIN, .fd = -1 };
	timer_t timer;
	sigset_t mask;
	sigfillset(&mask);
	sigdelset(&mask, WAKE_SIGNAL);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	how._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	view_make_own(); /* its own umask and folder; where it cannot have them, act.c does without */
	if (timer_create(CLOCK_MONOTONIC, &how, &timer) == 0) {
		int64_t since = milliseconds();
		int seen = 0, tick = FIRST_TICK_MS;
		do {
			interrupt_every(timer, tick);
			outcome = act_make(d->act);
			tick = 2 * tick < LAST_TICK_MS ? 2 * tick : LAST_TICK_MS;
		} while (outcome.fd < 0 && outcome.result == -EINTR && !interrupted(d, since, &seen, &outcome.result));
		timer_delete(timer);
	}
	/* Bytes that have gone are not sent again: it is told of those. */
	int64_t sent = outcome.fd < 0 && outcome.result < 0 ? act_sent(d->act) : 0;
	if (sent != 0)
		outcome.result = sent;
	act_discard(d->act); /* what it held is let go before the caller goes on */
	if (d->leaves && sent == 0)
		let_happen(d->listener, d->id);
	else
		respond(d->listener, d->id, &outcome);
	close(d->listener);
	if (d->keep != NULL) {
		keep_done(d->keep, d->id);
		atomic_fetch_sub(&d->keep->deputies, 1);
	}
	free(d);
	atomic_fetch_sub(&deputies, 1);
	return NULL;
}

static int start(int listener, struct keep *keep, uint64_t id, struct act *act)
{
	pthread_t thread;
	pthread_attr_t attributes;
	struct deputy *d = malloc(sizeof *d);
	if (d == NULL)
		return -ENOMEM;
	*d = (struct deputy){ fcntl(listener, F_DUPFD_CLOEXEC, 3), keep, id, act, 0 };
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	int failed = d->listener < 0 ? errno : 0;
	if (!failed && atomic_fetch_add(&deputies, 1) >= MAX_DEPUTIES)
		failed = EAGAIN;
	else if (!failed && !keep_hold(keep, id))
		failed = EAGAIN;
	if (!failed && keep != NULL)
		atomic_fetch_add(&keep->deputies, 1);
	if (!failed && (failed = pthread_create(&thread, &attributes, run_deputy, d)) && keep != NULL)
		atomic_fetch_sub(&keep->deputies, 1);
	pthread_attr_destroy(&attributes);
	if (!failed)
		return 0;
	if (d->listener >= 0) {
		atomic_fetch_sub(&deputies, 1);
		close(d->listener);
	}
	free(d);
	return -failed;
}

void deputy_answer(int listener, struct keep *keep, uint64_t id, const struct outcome *outcome)
{
	respond(listener, id, outcome);
	keep_done(keep, id);
}

void deputy_serve(int listener, struct keep *keep, uint64_t id, struct act *act)
{
	struct outcome outcome = { .fd = -1 };
	int waits = act_may_block(act);
	if (!waits) {
		act->at_once = 1;
		do
			outcome = act_make(act);
		while (outcome.fd < 0 && outcome.result == -EINTR); /* our own wake-up: the caller's signals do not reach us */
		waits = act_has_to_wait(act, &outcome);
	}
	if (waits) {
		act->at_once = 0;
		outcome.result = start(listener, keep, id, act);
		if (outcome.result == 0)
			return;
	}
	act_discard(act); /* before the caller goes on: a pin may be a copy of its own descriptor */
	deputy_answer(listener, keep, id, &outcome);
}
