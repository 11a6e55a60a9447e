/*
 * The functions that TypeScript can call; src/kernel/binding/native.ts has their types. Each worker thread has one session, as the
 * addon's instance data. Events and answers go through the shared buffer, so an event costs one call.
 */
#define _GNU_SOURCE
#include "values.h"
#include "../kernel/notification.h"
#include "../kernel/thread-fs.h"
#include "../kernel/wake-signal.h"
#include "../on-behalf/on-behalf.h"
#include "../tracee/fd-copy.h"
#include "../tracee/memory.h"
#include "../tracee/path.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ------------------------------------------------------------------ the session */

static void on_wake(int number) { (void)number; }

static void free_session(napi_env env, void *data, void *hint)
{
	struct session *s = data;
	(void)env, (void)hint;
	session_close(s);
	free(s);
}

/* create(buffer, fetchPlan, doors, onBehalfMark): a session. It keeps the buffer until close(). */
static napi_value create(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t size, plan_size;
	uint8_t *buffer = bytes(&c, 0, &size), *plan = bytes(&c, 1, &plan_size);
	if (c.session != NULL || buffer == NULL || size < BUFFER_SIZE || plan == NULL ||
	    plan_size != sizeof(struct fetch_plan)) {
		napi_throw_error(env, NULL, "create() takes a buffer and a fetch plan of the right sizes, one session at a time");
		return NULL;
	}
	struct session *s = calloc(1, sizeof *s);
	if (s == NULL) {
		napi_throw_error(env, NULL, "out of memory");
		return NULL;
	}
	struct sigaction wake = { .sa_handler = on_wake }; /* no SA_RESTART: it must interrupt the wait */
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, WAKE_SIGNAL);
	s->worker = (pid_t)syscall(SYS_gettid);
	s->socket = s->listener = s->calls = -1;
	s->cwd_cache.exec_counter = &s->exec_counter;
	atomic_store(&s->exec_counter.execs, 1);
	/* Create the timer now. Later the program may have used up the signals that may be queued for its user. */
	if (sigaction(WAKE_SIGNAL, &wake, NULL) < 0 || pthread_sigmask(SIG_UNBLOCK, &mask, NULL) != 0 ||
	    session_deadline(s, 0) < 0 ||
	    napi_create_reference(env, c.parameters[0], 1, (napi_ref *)&s->reference) != napi_ok) {
		session_close(s);
		free(s);
		napi_throw_error(env, NULL, "there is no signal, timer or memory for a session");
		return NULL;
	}

	s->buffer = buffer;
	s->event = (struct event *)buffer;
	s->answer = (struct answer *)(buffer + ANSWER_OFFSET);
	memcpy(&s->fetch_plan, plan, plan_size);
	s->doors = (int)integer(&c, 2);
	s->on_behalf_mark = (uint32_t)integer(&c, 3);
	on_behalf_remember_namespaces();
	thread_fs_unshare(); /* for the umask and cwd of on-behalf calls; without it a proxy process makes those that need them */
	napi_set_instance_data(env, s, free_session, NULL);
	return number(env, s->worker);
}

/* table(): a new verdict cache, as a descriptor of its memory, or -errno */
static napi_value table(napi_env env, napi_callback_info info)
{
	(void)info;
	int fd = verdict_cache_create();
	return number(env, fd < 0 ? -errno : fd);
}

/* closeVerdictCache(table): sessions that mapped it keep it */
static napi_value close_table(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	return number(env, close((int)integer(&c, 0)) < 0 ? -errno : 0);
}

/* settle(table): the session uses this verdict cache */
static napi_value settle(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	if (need_session(&c) == NULL || c.session->verdict_cache != NULL)
		return number(env, -EINVAL);
	int own = fcntl((int)integer(&c, 0), F_DUPFD_CLOEXEC, 3);
	return number(env, session_map_verdict_cache(c.session, own) < 0 ? -errno : 0);
}

/* close(): ends the session; the thread may create another */
static napi_value close_session(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	if (c.session != NULL) {
		napi_set_instance_data(env, NULL, NULL, NULL);
		napi_delete_reference(env, c.session->reference);
		free_session(env, c.session, NULL);
	}
	return number(env, 0);
}

/* launch(plan, launcherPath): the program's pid, or -errno */
static napi_value launch(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	char launcher[4096];
	size_t size, length;
	if (need_session(&c) == NULL)
		return NULL;
	uint8_t *plan = bytes(&c, 0, &size);
	if (plan == NULL || size < sizeof(struct plan) ||
	    napi_get_value_string_utf8(env, c.parameters[1], launcher, sizeof launcher, &length) != napi_ok)
		return number(env, -EINVAL);
	int failed = session_launch(c.session, plan, size, launcher);
	return number(env, failed < 0 ? failed : c.session->program);
}

/* launchFailure(): step * 4096 + errno, 0 while nothing failed */
static napi_value launch_failure(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	struct plan *plan = need_session(&c) ? c.session->plan : NULL;
	return number(env, plan == NULL ? 0 : plan->failed_step * 4096 + plan->failed_errno);
}

/* next(): the kind of the event now in the buffer, or -errno */
static napi_value next(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	return need_session(&c) ? number(env, session_next(c.session)) : NULL;
}

/* resume(door, kind, tid, id, result): answers an event that was held, with the answer in the buffer */
static napi_value resume_held(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	if (need_session(&c) == NULL)
		return NULL;
	struct event held = {
		.door = (uint32_t)integer(&c, 0),
		.kind = (uint32_t)integer(&c, 1),
		.tid = (int32_t)integer(&c, 2),
		.id = word(&c, 3),
		.result = integer(&c, 4),
		.nr = (int32_t)integer(&c, 5),
	};
	size_t size;
	uint8_t *args = bytes(&c, 6, &size);
	if (args != NULL && size == sizeof held.args)
		memcpy(held.args, args, size);
	session_resume(c.session, &held);
	return number(env, 0);
}

static napi_value deadline(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	return need_session(&c) ? number(env, session_deadline(c.session, integer(&c, 0))) : NULL;
}

/* waits(id): whether a notification still waits for its answer */
static napi_value waits(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	uint64_t id = word(&c, 0);
	napi_value result = NULL;
	if (need_session(&c) == NULL)
		return NULL;
	napi_get_boolean(env, notification_is_valid(c.session->listener, id), &result);
	return result;
}

/* endSession(): asks the launcher to kill every process of the session */
static napi_value end_session(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	if (need_session(&c) == NULL)
		return NULL;
	session_send(c.session, SUPERVISOR_KILL, 0);
	return number(env, 0);
}

/* ------------------------------------------------------------------ looking at a tracee */

/* fetch(tid, address, into): how many bytes were copied, or -errno for none */
static napi_value fetch(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t size;
	uint8_t *into = bytes(&c, 2, &size);
	return number(env, into == NULL ? -EINVAL : memory_read((pid_t)integer(&c, 0), word(&c, 1), into, size));
}

/* fetchString(tid, address, into): its length, or -errno; -ENAMETOOLONG when it does not end within `into` */
static napi_value fetch_string(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	int truncated = 0;
	size_t size;
	uint8_t *into = bytes(&c, 2, &size);
	if (into == NULL)
		return number(env, -EINVAL);
	ssize_t got = memory_read_string((pid_t)integer(&c, 0), word(&c, 1), (char *)into, size, &truncated);
	return number(env, truncated ? -ENAMETOOLONG : got);
}

/* fdName(tid, fd): what /proc says the descriptor is, as bytes, or -errno */
static napi_value fd_name(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	char into[TEXT_SIZE];
	ssize_t length = path_of_fd((pid_t)integer(&c, 0), (int)integer(&c, 1), into, sizeof into);
	return length < 0 ? number(env, length) : text(env, into, (size_t)length);
}

/* socketNames(tid, fd): local and peer address, 132 bytes each (length first), or -errno */
static napi_value names_of_socket(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	struct {
		uint32_t local_size;
		uint8_t local[128];
		uint32_t peer_size;
		uint8_t peer[128];
	} both;
	memset(&both, 0, sizeof both);
	int failed = socket_names((pid_t)integer(&c, 0), (int)integer(&c, 1), both.local, &both.local_size, both.peer,
				  &both.peer_size);
	return failed < 0 ? number(env, failed) : text(env, (char *)&both, sizeof both);
}

/* processBehind(tid, fd): process_of_fd() of a tracee's descriptor; tid 0: of our own */
static napi_value behind(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	pid_t tid = (pid_t)integer(&c, 0);
	int fd = (int)integer(&c, 1), copy = tid == 0 ? fd : copy_tracee_fd(tid, fd);
	long found = copy < 0 ? copy : process_of_fd(copy);
	if (tid != 0 && copy >= 0)
		close(copy);
	return number(env, found);
}

/* fence(): which protections are in force, the detail of a failed step, and the errno of each protection */
static napi_value fence(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	int32_t report[2 + MAX_PROTECTIONS] = { 0 };
	if (!need_session(&c))
		return NULL;
	if (c.session->plan != NULL) {
		report[0] = (int32_t)c.session->plan->fence.in_force;
		report[1] = (int32_t)c.session->plan->failed_detail;
		for (int i = 0; i < MAX_PROTECTIONS; i++)
			report[2 + i] = c.session->plan->fence.errnos[i];
	}
	return text(env, (char *)report, sizeof report);
}

/* masksSeen(): a byte for each mask of the fence, 1 where the program looked for its file */
static napi_value masks_seen(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	if (!need_session(&c))
		return NULL;
	const struct plan *plan = c.session->plan;
	if (plan == NULL || plan->fence.masks_seen > c.session->plan_size ||
	    plan->fence.mask_count > c.session->plan_size - plan->fence.masks_seen)
		return text(env, "", 0);
	return text(env, (const char *)plan + plan->fence.masks_seen, plan->fence.mask_count);
}

/* changeView(plan, maskCount, launcher): a byte per mask of the plan, as masksSeen() has it, or -errno */
static napi_value change_view(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	char launcher[4096];
	size_t size, length;
	uint8_t *orders = bytes(&c, 0, &size), *seen;
	int64_t count = integer(&c, 1);
	if (!need_session(&c) || orders == NULL || count < 0 || (size_t)count > size ||
	    napi_get_value_string_utf8(env, c.parameters[2], launcher, sizeof launcher, &length) != napi_ok ||
	    (seen = calloc((size_t)count + 1, 1)) == NULL)
		return NULL;
	int failed = session_change_view(c.session, orders, size, launcher, seen);
	napi_value result = failed < 0 ? number(env, failed) : text(env, (char *)seen, (size_t)count);
	free(seen);
	return result;
}

/* socketType(tid, fd): SOCK_STREAM and so on, or -errno */
static napi_value type_of_socket(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	int type = 0, fd = copy_tracee_fd((pid_t)integer(&c, 0), (int)integer(&c, 1));
	socklen_t size = sizeof type;
	if (fd < 0)
		return number(env, fd);
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
		type = -errno;
	close(fd);
	return number(env, type);
}

napi_status export_functions(napi_env env, napi_value exports, const struct exported *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		napi_value function;
		napi_status status =
			napi_create_function(env, list[i].name, NAPI_AUTO_LENGTH, list[i].function, NULL, &function);
		if (status == napi_ok)
			status = napi_set_named_property(env, exports, list[i].name, function);
		if (status != napi_ok)
			return status;
	}
	return napi_ok;
}

NAPI_MODULE_INIT()
{
	static const struct exported surface[] = {
		{ "create", create }, { "close", close_session },
		{ "createVerdictCache", table }, { "closeVerdictCache", close_table }, { "useVerdictCache", settle },
		{ "launch", launch }, { "launchFailure", launch_failure }, { "fence", fence }, { "masksSeen", masks_seen },
		{ "changeView", change_view },
		{ "next", next }, { "resume", resume_held }, { "deadline", deadline }, { "waits", waits },
		{ "endSession", end_session }, { "fetch", fetch }, { "fetchString", fetch_string }, { "fdName", fd_name },
		{ "socketNames", names_of_socket }, { "socketType", type_of_socket }, { "processBehind", behind },
	};
	if (export_functions(env, exports, surface, sizeof surface / sizeof surface[0]) != napi_ok ||
	    export_layout_functions(env, exports) != napi_ok || export_process_functions(env, exports) != napi_ok ||
	    export_pin_functions(env, exports) != napi_ok || export_tracee_functions(env, exports) != napi_ok ||
	    export_ring_functions(env, exports) != napi_ok || export_resident_functions(env, exports) != napi_ok || export_socket_functions(env, exports) != napi_ok ||
	    export_attach_functions(env, exports) != napi_ok || export_scan_functions(env, exports) != napi_ok)
		return NULL;
	return exports;
}
