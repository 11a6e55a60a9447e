/* The notify door: seccomp user notification. Only the thread that makes the call waits. */
#define _GNU_SOURCE
#include "doors.h"
#include "exec-cache.h"
#include "../kernel/notification.h"
#include "../on-behalf/blocking-call.h"
#include "../protocol/keeper.h"
#include "../session/broker-client.h"
#include "../tracee/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void send_response(struct session *s, struct seccomp_notif_resp *response)
{
	notification_respond(s->listener, response);
	keeper_release(s->keeper, response->id);
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

/* The broker makes the call and answers it. Without a broker this process does. */
static void make_on_behalf(struct session *s, uint64_t id, struct on_behalf_call *call)
{
	if (s->broker == 0) {
		on_behalf_serve(s->listener, s->keeper, id, call);
		return;
	}
	int failed = broker_make_call(s->broker, id, call);
	if (failed)
		refuse(s, id, failed);
}

/* The broker waits at the listener and forwards the call, unless it has left the listener to us. */
static int receive(struct session *s, struct seccomp_notif *request)
{
	if (!session_listens(s))
		return broker_next(s->broker, s->calls, request, &s->has_listener);
	struct seccomp_notif *into = s->keeper ? &s->keeper->inbox : request;
	int failed = notification_receive(s->listener, into);
	if (!failed && into != request)
		*request = *into;
	if (failed ? failed != -EINTR : request->data.nr != SYS_execve)
		session_hand_back(s);
	return failed;
}

static int fill_event(struct session *s, const struct seccomp_notif *request)
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
	event_stamp(event);
	memory_log_stop(event);
	fetch_arguments(s);
	/* The reads above went by thread id. If the caller died, they may have read another thread's memory. */
	return !event->fetched || notification_is_valid(s->listener, request->id);
}

static int handle(struct session *s, const struct seccomp_notif *request)
{
	if (notification_is_foreign(request)) {
		refuse(s, request->id, -ENOSYS);
		return 0;
	}
	if (trace_is_injecting(s, (pid_t)request->pid)) { /* a call that the trace door put in place of the program's own */
		let_pass(s, request->id);
		return 0;
	}
	struct tracee *t = s->on_behalf_count ? tracee_find(s, (pid_t)request->pid) : NULL;
	if (t != NULL && t->on_behalf != NULL) { /* decided at the trace door, and sent here to be made on behalf */
		struct on_behalf_call *call = t->on_behalf;
		t->on_behalf = NULL;
		s->on_behalf_count--;
		make_on_behalf(s, request->id, call);
		return 0;
	}
	exec_window_call(s, (pid_t)request->pid);
	s->at_listener = 1; /* only here: the calls above do not say where the next event comes from */
	if (!fill_event(s, request)) {
		keeper_release(s->keeper, request->id);
		return 0;
	}
	if (missing_program_answer(s)) {
		refuse(s, request->id, -ENOENT);
		return 0;
	}
	if (exec_cache_look(s)) {
		cwd_cache_before_exec(&s->cwd_cache, s->event->tid);
		broker_drop_early_resolution(s->broker);
		exec_window_open(s, s->event, 1);
		return 0;
	}
	s->awaiting = 1;
	return 1;
}

int notify_receive(struct session *s)
{
	struct seccomp_notif request;
	int failed = receive(s, &request);
	return failed ? failed : handle(s, &request);
}

void notify_answer(struct session *s, const struct event *event)
{
	const struct answer *answer = s->answer;
	struct seccomp_notif_resp response = { .id = event->id };
	int failed = 0;

	if (event->kind == EVENT_EXEC || event->kind == EVENT_EXEC_TRACED) {
		exec_window_answer(s, event);
		return;
	}
	/* Now, and not when the call came: the decision looked at the caller as it was before the execve. */
	if (event->nr == SYS_execve || event->nr == SYS_execveat)
		cwd_cache_before_exec(&s->cwd_cache, event->tid);
	if (answer->action == ANSWER_HOLD) {
		if (!keeper_hold(s->keeper, event->id))
			refuse(s, event->id, -EAGAIN);
		return;
	}
	if ((answer->signal || answer->write_count) && !notification_is_valid(s->listener, event->id)) {
		keeper_release(s->keeper, event->id);
		return;
	}
	if (answer->signal)
		syscall(SYS_tkill, event->tid, answer->signal);
	switch (answer->action) {
	case ANSWER_ON_BEHALF: {
		struct on_behalf_call *call = on_behalf_from_answer(s, event);
		if (call != NULL) {
			make_on_behalf(s, event->id, call);
			return;
		}
		response.error = -ENOMEM;
		break;
	}
	case ANSWER_CONTINUE:
		/* This door cannot change a call that continues: refuse it. */
		if (answer->registers || answer->write_count)
			response.error = -ENOSYS;
		else if (answer->flags & ANSWER_VERIFY) {
			exec_window_open(s, event, (answer->flags & ANSWER_CACHE) != 0);
			return;
		} else
			response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		break;
	case ANSWER_RETURN:
		failed = apply_writes(event->tid, answer, s->buffer + REPLY_OFFSET);
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
