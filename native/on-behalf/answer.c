/* Answers the notification of a call that was made on behalf, and puts its descriptor into the caller. */
#define _GNU_SOURCE
#include "blocking-call.h"
#include "../kernel/notification.h"
#include "../protocol/keeper.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

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

static int put_descriptor(int listener, uint64_t id, const struct outcome *outcome, uint32_t flags)
{
	struct seccomp_notif_addfd add = { .id = id, .flags = flags, .srcfd = (uint32_t)outcome->fd,
					   .newfd_flags = outcome->fd_flags };
	int put;
	do
		put = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	while (put < 0 && (errno == EAGAIN || (errno == EINTR && flags == 0)));
	return put < 0 ? -errno : put;
}

/*
 * All signals are blocked here. If one came during SECCOMP_ADDFD_FLAG_SEND, the kernel would mark the call as answered and
 * take the descriptor back. The program would see 0 and take that for its stdin.
 */
static int put_and_answer(int listener, uint64_t id, const struct outcome *outcome)
{
	sigset_t every, before;
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	int put = put_descriptor(listener, id, outcome, SECCOMP_ADDFD_FLAG_SEND);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return put;
}

/*
 * Returns the descriptor's number in the caller, or -errno. The file is truncated only once the caller has the
 * descriptor: where the caller has no free number (EMFILE), no data is lost.
 */
static int64_t hand_over(int listener, uint64_t id, const struct outcome *outcome)
{
	int64_t number = put_descriptor(listener, id, outcome, 0);
	int failed = number >= 0 && outcome->truncates ? on_behalf_truncate(outcome) : 0;
	return failed ? failed : number;
}

static void send_result(int listener, uint64_t id, int64_t result)
{
	struct seccomp_notif_resp response = { .id = id };
	if (result < 0)
		response.error = (int32_t)result;
	else
		response.val = result;
	notification_respond(listener, &response);
}

/*
 * Our copy of the descriptor is closed before the caller goes on. A copy that outlives the call keeps the file from being
 * executed (ETXTBSY), a lock from being released, and IN_CLOSE_WRITE from being sent.
 */
void on_behalf_answer(int listener, struct keeper_memory *keeper, uint64_t id, const struct outcome *outcome)
{
	int64_t result = outcome->result;
	int in_one_step = outcome->fd >= 0 && !outcome->truncates && !callers_stay();
	if (in_one_step)
		result = put_and_answer(listener, id, outcome);
	else if (outcome->fd >= 0)
		result = hand_over(listener, id, outcome);
	if (outcome->fd >= 0)
		close(outcome->fd);
	if (!in_one_step || result < 0)
		send_result(listener, id, result);
	keeper_release(keeper, id);
}
