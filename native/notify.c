/* The notify door: seccomp user notification. One thread waits per call; nothing else is disturbed. */
#define _GNU_SOURCE
#include "attach.h"
#include "broker.h"
#include "deputy.h"

#include <errno.h>
#include <linux/audit.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { X32_CALLS = 0x40000000 };

static int still_waits(struct session *s, uint64_t id)
{
	return ioctl(s->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

static void send_response(struct session *s, struct seccomp_notif_resp *response)
{
	/* ENOENT: the caller was killed meanwhile. Nothing is left to answer. */
	while (ioctl(s->listener, SECCOMP_IOCTL_NOTIF_SEND, response) < 0 && errno == EINTR)
		;
	keep_done(s->kept, response->id);
}

static void let_pass(struct session *s, uint64_t id)
{
	struct seccomp_notif_resp response = { .id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	send_response(s, &response);
}

static void refuse(struct session *s, uint64_t id, int error)
{
	struct seccomp_notif_resp response = { .id = id, .error = error };
	send_response(s, &response);
}

/* The broker makes it, and answers; in its absence we do. */
static void have_made(struct session *s, uint64_t id, struct act *act)
{
	if (s->broker == 0) {
		deputy_serve(s->listener, s->kept, id, act);
		return;
	}
	int failed = broker_act(s->broker, id, act);
	if (failed)
		refuse(s, id, failed);
}

int notify_is_foreign(const struct seccomp_notif *request)
{
	return request->data.arch != AUDIT_ARCH_X86_64 || (uint32_t)request->data.nr >= X32_CALLS;
}

/* From the broker, which waits at the listener; in its absence we do. */
static int receive(struct session *s, struct seccomp_notif *request)
{
	if (s->broker > 0)
		return broker_next(s->broker, s->calls, request);
	struct seccomp_notif *place = s->kept ? &s->kept->inbox : request;
	memset(place, 0, sizeof *place); /* the kernel refuses a request that is not zeroed */
	if (ioctl(s->listener, SECCOMP_IOCTL_NOTIF_RECV, place) < 0)
		return -errno;
	*request = *place;
	return 0;
}

int notify_receive(struct session *s)
{
	struct seccomp_notif request;
	int failed = receive(s, &request);
	return failed ? failed : notify_take(s, &request);
}

int notify_take(struct session *s, const struct seccomp_notif *request)
{
	if (notify_is_foreign(request)) {
		refuse(s, request->id, -ENOSYS);
		return 0;
	}
	if (trace_is_injecting(s, (pid_t)request->pid)) { /* a call that the trace door makes on its own account */
		let_pass(s, request->id);
		return 0;
	}
	struct tracee *t = s->acting ? tracee_find(s, (pid_t)request->pid) : NULL;
	if (t != NULL && t->act != NULL) { /* decided at the trace door, and sent here to be made in its place */
		struct act *act = t->act;
		t->act = NULL;
		s->acting--;
		have_made(s, request->id, act);
		return 0;
	}
	s->at_listener = 1; /* one that was decided on elsewhere says nothing of where the next comes from */
	if (!notify_read(s, request)) {
		keep_done(s->kept, request->id);
		return 0;
	}
	s->awaiting = 1;
	return 1;
}

int notify_read(struct session *s, const struct seccomp_notif *request)
{
	struct event *event = s->event;
	event->kind = EVENT_ENTRY;
	event->door = DOOR_NOTIFY;
	event->tid = (int32_t)request->pid;
	event->nr = request->data.nr;
	memcpy(event->args, request->data.args, sizeof event->args);
	event->ip = request->data.instruction_pointer;
	event->sp = 0;
	event->result = 0;
	event->id = request->id;
	event->peer = 0;
	event->broker = s->broker;
	stamp(event);
	memory_stopped(event);
	memory_fetch(s);
	/* The reads above went by thread id. If the caller died, they may have seen somebody else's memory. */
	return !event->fetched || still_waits(s, request->id);
}

void notify_answer(struct session *s, const struct event *event)
{
	const struct answer *answer = s->answer;
	struct seccomp_notif_resp response = { .id = event->id };
	int failed = 0;

	/* Now, and not when it came: while it was decided on, its caller was looked at as who it was. */
	if (event->nr == SYS_execve || event->nr == SYS_execveat)
		origin_execs(&s->origins, event->tid);
	if (answer->action == ANSWER_HOLD) {
		if (!keep_hold(s->kept, event->id))
			refuse(s, event->id, -EAGAIN);
		return;
	}
	if ((answer->signal || answer->write_count) && !still_waits(s, event->id)) {
		keep_done(s->kept, event->id);
		return;
	}
	if (answer->signal)
		syscall(SYS_tkill, event->tid, answer->signal);
	switch (answer->action) {
	case ANSWER_ACT: {
		struct act *act = act_of(s, event);
		if (act != NULL) {
			have_made(s, event->id, act);
			return;
		}
		response.error = -ENOMEM;
		break;
	}
	case ANSWER_CONTINUE:
		/* This door cannot change a call that is let through: refuse rather than ignore. */
		if (answer->registers || answer->write_count)
			response.error = -ENOSYS;
		else
			response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		break;
	case ANSWER_RETURN:
		failed = memory_apply_writes(event->tid, answer, s->buffer + REPLY_OFFSET);
		if (failed)
			response.error = failed;
		else if (answer->result < 0 && answer->result >= -4095)
			response.error = (int32_t)answer->result;
		else
			response.val = answer->result;
		break;
	default:
		kill(event->tid, SIGKILL);
		response.error = -EPERM;
		break;
	}
	send_response(s, &response);
}
