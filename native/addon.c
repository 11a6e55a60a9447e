/*
 * What TypeScript can call; src/kernel/native.ts has the types. One session per worker thread, kept as the
 * addon's instance data. Numbers go through the shared buffer, so an event costs one call.
 */
#define _GNU_SOURCE
#include "broker.h"
#include "identity.h"
#include "settled.h"
#include "standin.h"
#include "values.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
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

/* create(buffer, fetchPlan, doors, actMark): the buffer is kept until close(). */
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
	struct sigaction wake = { .sa_handler = on_wake }; /* no SA_RESTART: it is there to interrupt */
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, WAKE_SIGNAL);
	s->worker = (pid_t)syscall(SYS_gettid);
	s->socket = s->listener = s->calls = -1;
	s->origins.programs = &s->programs;
	atomic_store(&s->programs.execs, 1);
	/* The timer now: later the program may have used up the signals that may be queued for its user. */
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
	s->act_mark = (uint32_t)integer(&c, 3);
	act_remember_namespaces();
	view_make_own(); /* for the umask and folder of whoever acts are made for; without it a stand-in makes them */
	napi_set_instance_data(env, s, free_session, NULL);
	return number(env, s->worker);
}

/* table(): a descriptor of the memory of a new table of answers that stand (settled.h), or -errno */
static napi_value table(napi_env env, napi_callback_info info)
{
	(void)info;
	int fd = settled_file();
	return number(env, fd < 0 ? -errno : fd);
}

/* closeTable(table): whoever has it open still has it. */
static napi_value close_table(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	return number(env, close((int)integer(&c, 0)) < 0 ? -errno : 0);
}

/* settle(table): the session has this table. */
static napi_value settle(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	if (need_session(&c) == NULL || c.session->settled != NULL)
		return number(env, -EINVAL);
	int own = fcntl((int)integer(&c, 0), F_DUPFD_CLOEXEC, 3);
	return number(env, settled_map(c.session, own) < 0 ? -errno : 0);
}

/* close(): the session is over; the thread may have another. */
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

/* resume(door, kind, tid, id, result): gives the answer in the buffer to an event that was held */
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
	napi_get_boolean(env, ioctl(c.session->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0, &result);
	return result;
}

/* endSession(): asks the launcher to kill every process of the session */
static napi_value end_session(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	if (need_session(&c) == NULL)
		return NULL;
	session_tell(c.session, TELL_KILL, 0);
	return number(env, 0);
}

/* ------------------------------------------------------------------ looking at a tracee */

/* fetch(tid, address, into): bytes copied, or -errno when none could be */
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

/* processBehind(tid, fd): of a pidfd or a folder of /proc: see act.h. Thread 0: the descriptor is our own. */
static napi_value behind(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	pid_t tid = (pid_t)integer(&c, 0);
	int fd = (int)integer(&c, 1), copy = tid == 0 ? fd : descriptor_of(tid, fd);
	long found = copy < 0 ? copy : process_behind(copy);
	if (tid != 0 && copy >= 0)
		close(copy);
	return number(env, found);
}

/* fence(): what came of each protection: which are in force, what the others failed with, what a failure was about */
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

/* socketType(tid, fd): SOCK_STREAM and so on, or -errno */
static napi_value type_of_socket(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	int type = 0, fd = descriptor_of((pid_t)integer(&c, 0), (int)integer(&c, 1));
	socklen_t size = sizeof type;
	if (fd < 0)
		return number(env, fd);
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
		type = -errno;
	close(fd);
	return number(env, type);
}

/* layout(): offsets and sizes that src/kernel/layout.ts must agree with */
static napi_value layout(napi_env env, napi_callback_info info)
{
	napi_value object;
	(void)info;
	napi_create_object(env, &object);
#define PUT(name, value)                                                        \
	do {                                                                    \
		napi_set_named_property(env, object, name, number(env, value)); \
	} while (0)
#define FIELD(kind, field) PUT(#kind "." #field, offsetof(struct kind, field))
	FIELD(event, kind); FIELD(event, door); FIELD(event, tid); FIELD(event, nr); FIELD(event, args);
	FIELD(event, ip); FIELD(event, sp); FIELD(event, result); FIELD(event, id); FIELD(event, time);
	FIELD(event, peer); FIELD(event, fetched); FIELD(event, slots); FIELD(event, broker); FIELD(event, registers); PUT("slot", sizeof(struct slot));
	FIELD(answer, action); FIELD(answer, flags); FIELD(answer, result); FIELD(answer, registers);
	FIELD(answer, signal); FIELD(answer, args); FIELD(answer, write_count); FIELD(answer, writes);
	FIELD(write, kind); FIELD(write, argument); FIELD(write, address); FIELD(write, offset); FIELD(write, length);
	PUT("write", sizeof(struct write)); PUT("answer", ANSWER_OFFSET); PUT("pins", PINS_OFFSET);
	PUT("pin", sizeof(struct pin)); PUT("max_pins", MAX_PINS); PUT("fetch", FETCH_OFFSET);
	PUT("fetch_size", FETCH_SIZE); PUT("reply", REPLY_OFFSET); PUT("reply_size", REPLY_SIZE);
	PUT("buffer", BUFFER_SIZE); PUT("fetch_plan", sizeof(struct fetch_plan)); PUT("max_writes", MAX_WRITES);
	FIELD(plan, magic); FIELD(plan, size); FIELD(plan, flags); FIELD(plan, file); FIELD(plan, directory);
	FIELD(plan, argc); FIELD(plan, argv); FIELD(plan, envc); FIELD(plan, envp); FIELD(plan, filter);
	FIELD(plan, filter_count); FIELD(plan, stdio); FIELD(plan, limit_count); FIELD(plan, kept_count);
	FIELD(plan, kept); FIELD(plan, limits); FIELD(plan, ignored); FIELD(plan, blocked); FIELD(plan, blocking);
	FIELD(plan, fence); FIELD(plan_fence, wanted); FIELD(plan_fence, required); FIELD(plan_fence, mount_count);
	FIELD(plan_fence, mounts); FIELD(plan_fence, path_rule_count); FIELD(plan_fence, path_rules);
	FIELD(plan_fence, port_rule_count); FIELD(plan_fence, port_rules); FIELD(plan_fence, cgroup_count);
	FIELD(plan_fence, cgroups); FIELD(plan_fence, handled_files); FIELD(plan_fence, handled_ports);
	FIELD(plan_fence, scopes); FIELD(plan_fence, in_force); FIELD(plan_fence, errnos);
	PUT("plan_fence", sizeof(struct plan_fence));
	FIELD(settled, in_force); FIELD(settled, class_count); FIELD(settled, may_place); FIELD(settled, generation);
	FIELD(settled, classes); FIELD(settled, next); FIELD(settled, allowed);
	FIELD(settled, missed); FIELD(settled, missing);
	FIELD(settled_class, nr); FIELD(settled_class, flags_at); FIELD(settled_class, flags); FIELD(settled_class, dirfd_at);
	FIELD(settled_class, path_at); FIELD(settled_class, resolve); FIELD(settled_class, stands); FIELD(settled_class, made);
	PUT("settled_class", sizeof(struct settled_class)); PUT("settled", offsetof(struct settled, programs));
	PUT("plan", sizeof(struct plan)); PUT("plan_limit", sizeof(struct plan_limit));
	return object;
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
		{ "create", create }, { "table", table }, { "closeTable", close_table }, { "settle", settle }, { "close", close_session }, { "launch", launch }, { "launchFailure", launch_failure }, { "fence", fence }, { "next", next },
		{ "resume", resume_held }, { "deadline", deadline }, { "waits", waits }, { "endSession", end_session }, { "fetch", fetch },
		{ "fetchString", fetch_string },        { "fdName", fd_name },
		{ "socketNames", names_of_socket }, { "socketType", type_of_socket }, { "processBehind", behind }, { "layout", layout },
	};
	if (export_functions(env, exports, surface, sizeof surface / sizeof surface[0]) != napi_ok ||
	    export_process_functions(env, exports) != napi_ok || export_pin_functions(env, exports) != napi_ok || export_inside_functions(env, exports) != napi_ok ||
	    export_ring_functions(env, exports) != napi_ok || export_listener_functions(env, exports) != napi_ok ||
	    export_attach_functions(env, exports) != napi_ok)
		return NULL;
	return exports;
}
