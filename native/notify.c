/* The notify door: seccomp user notification. One thread waits per call; nothing else is disturbed. */
#define _GNU_SOURCE
#include "deputy.h"
#include "session.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int still_waits(struct session *s, uint64_t id)
{
	return ioctl(s->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

static void send_response(struct session *s, struct seccomp_notif_resp *response)
{
	/* ENOENT: the caller was killed meanwhile. Nothing is left to answer. */
	while (ioctl(s->listener, SECCOMP_IOCTL_NOTIF_SEND, response) < 0 && errno == EINTR)
		;
}

static void let_pass(struct session *s, uint64_t id)
{
	struct seccomp_notif_resp response = { .id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	send_response(s, &response);
}

int notify_receive(struct session *s)
{
	struct seccomp_notif request;
	struct event *event = s->event;

	memset(&request, 0, sizeof request); /* the kernel refuses a request that is not zeroed */
	if (ioctl(s->listener, SECCOMP_IOCTL_NOTIF_RECV, &request) < 0)
		return -errno;
	if (trace_is_injecting(s, (pid_t)request.pid)) { /* a call that the trace door makes on its own account */
		let_pass(s, request.id);
		return 0;
	}
	struct tracee *t = s->acting ? tracee_find(s, (pid_t)request.pid) : NULL;
	if (t != NULL && t->act != NULL) { /* decided at the trace door, and sent here to be made in its place */
		struct act *act = t->act;
		t->act = NULL;
		s->acting--;
		deputy_serve(s->listener, request.id, act);
		return 0;
	}
	event->kind = EVENT_ENTRY;
	event->door = DOOR_NOTIFY;
	event->tid = (int32_t)request.pid;
	event->nr = request.data.nr;
	memcpy(event->args, request.data.args, sizeof event->args);
	event->ip = request.data.instruction_pointer;
	event->sp = 0;
	event->result = 0;
	event->id = request.id;
	event->peer = 0;
	stamp(event);
	memory_fetch(s);
	/* The reads above went by thread id. If the caller died, they may have seen somebody else's memory. */
	if (event->fetched && !still_waits(s, request.id))
		return 0;
	s->awaiting = 1;
	return 1;
}

void notify_answer(struct session *s, const struct event *event)
{
	const struct answer *answer = s->answer;
	struct seccomp_notif_resp response = { .id = event->id };
	int failed = 0;

	if (answer->action == ANSWER_HOLD)
		return;
	if ((answer->signal || answer->write_count) && !still_waits(s, event->id))
		return;
	if (answer->signal)
		syscall(SYS_tkill, event->tid, answer->signal);
	switch (answer->action) {
	case ANSWER_ACT: {
		struct act *act = act_of(s, event);
		if (act != NULL) {
			deputy_serve(s->listener, event->id, act);
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
