/*
 * What TypeScript can call; src/kernel/native.ts has the types. One session per worker thread, kept as the
 * addon's instance data. Numbers go through the shared buffer, so an event costs one call.
 */
#define _GNU_SOURCE
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <node_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_PARAMETERS = 6, TEXT_SIZE = 8192 };

/* ------------------------------------------------------------------ values */

struct call {
	napi_env env;
	napi_value parameters[MAX_PARAMETERS];
	struct session *session;
};

static struct call open_call(napi_env env, napi_callback_info info)
{
	struct call c = { .env = env };
	size_t count = MAX_PARAMETERS;
	napi_get_cb_info(env, info, &count, c.parameters, NULL, NULL);
	napi_get_instance_data(env, (void **)&c.session);
	return c;
}

static napi_value number(napi_env env, int64_t value)
{
	napi_value result = NULL;
	napi_create_int64(env, value, &result);
	return result;
}

static int64_t integer(struct call *c, int i)
{
	int64_t value = 0;
	napi_get_value_int64(c->env, c->parameters[i], &value);
	return value;
}

static uint64_t word(struct call *c, int i)
{
	uint64_t value = 0;
	bool lossless;
	napi_get_value_bigint_uint64(c->env, c->parameters[i], &value, &lossless);
	return value;
}

static uint8_t *bytes(struct call *c, int i, size_t *size)
{
	void *data = NULL;
	napi_typedarray_type type;
	size_t length = 0;
	*size = 0;
	if (napi_get_typedarray_info(c->env, c->parameters[i], &type, &length, &data, NULL, NULL) != napi_ok ||
	    type != napi_uint8_array)
		return NULL;
	*size = length;
	return data;
}

static struct session *need_session(struct call *c)
{
	if (c->session == NULL)
		napi_throw_error(c->env, NULL, "no session was created in this thread");
	return c->session;
}

/* ------------------------------------------------------------------ the session */

static void on_wake(int number) { (void)number; }

static void free_session(napi_env env, void *data, void *hint)
{
	struct session *s = data;
	(void)env, (void)hint;
	session_close(s);
	free(s);
}

/* create(buffer, fetchPlan, doors, wantSignals): the buffer must live as long as the thread does. */
static napi_value create(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t size, plan_size;
	uint8_t *buffer = bytes(&c, 0, &size), *plan = bytes(&c, 1, &plan_size);
	if (c.session != NULL || buffer == NULL || size < BUFFER_SIZE || plan == NULL ||
	    plan_size != sizeof(struct fetch_plan)) {
		napi_throw_error(env, NULL, "create() takes a buffer and a fetch plan of the right sizes, once per thread");
		return NULL;
	}
	struct session *s = calloc(1, sizeof *s);
	if (s == NULL) {
		napi_throw_error(env, NULL, "out of memory");
		return NULL;
	}
	struct sigaction wake = { .sa_handler = on_wake }; /* no SA_RESTART: it is there to interrupt */
	sigaction(WAKE_SIGNAL, &wake, NULL);
	sigset_t mask;
	sigemptyset(&mask);
	sigaddset(&mask, WAKE_SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &mask, NULL);

	s->buffer = buffer;
	s->event = (struct event *)buffer;
	s->answer = (struct answer *)(buffer + ANSWER_OFFSET);
	memcpy(&s->fetch_plan, plan, plan_size);
	s->doors = (int)integer(&c, 2);
	s->want_signals = (int)integer(&c, 3);
	s->worker = (pid_t)syscall(SYS_gettid);
	s->socket = s->listener = -1;
	napi_ref keep;
	napi_create_reference(env, c.parameters[0], 1, &keep);
	napi_set_instance_data(env, s, free_session, NULL);
	return number(env, s->worker);
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
	};
	session_resume(c.session, &held);
	return number(env, 0);
}

static napi_value deadline(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	return need_session(&c) ? number(env, session_deadline(c.session, integer(&c, 0))) : NULL;
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

/* poke(tid, address, bytes): 0 or -errno */
static napi_value poke(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t size;
	uint8_t *data = bytes(&c, 2, &size);
	return number(env, data == NULL ? -EINVAL : memory_write((pid_t)integer(&c, 0), word(&c, 1), data, size));
}

static napi_value text(napi_env env, const char *from, size_t length)
{
	napi_value result = NULL;
	void *data;
	napi_create_buffer_copy(env, length, from, &data, &result);
	return result;
}

/*
 * resolve(tid, dirfd, path bytes, flags, into): the length of the canonical path now in `into`, or -errno. Bit 1 of
 * `flags` follows a last component that is a link. The last component need not exist.
 */
static napi_value resolve(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	char path[4097];
	size_t size, room;
	int missing;
	uint8_t *data = bytes(&c, 2, &size), *into = bytes(&c, 4, &room);
	if (data == NULL || into == NULL || room == 0)
		return number(env, -EINVAL);
	if (size > 4096)
		return number(env, -ENAMETOOLONG);
	memcpy(path, data, size);
	path[size] = 0;
	return number(env, path_resolve((pid_t)integer(&c, 0), (int)integer(&c, 1), path, (int)integer(&c, 3),
					(char *)into, room - 1, &missing));
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

/* ------------------------------------------------------------------ the whole process */

/* wake(tid): interrupts the wait of that worker thread */
static napi_value wake(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	return number(env, syscall(SYS_tgkill, getpid(), integer(&c, 0), WAKE_SIGNAL) < 0 ? -errno : 0);
}

static napi_value kill_process(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	return number(env, kill((pid_t)integer(&c, 0), (int)integer(&c, 1)) < 0 ? -errno : 0);
}

/* forward(launcher, signal, sender): the program gets it, unless it had it from the same sender already */
static napi_value forward(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	union sigval value = { .sival_int = (int)(integer(&c, 2) * 128 + integer(&c, 1)) };
	return number(env, sigqueue((pid_t)integer(&c, 0), FORWARD_SIGNAL, value) < 0 ? -errno : 0);
}

/*
 * releaseStdio(): the program has stdin and stdout now. While we kept them open too, the other end of a pipe would
 * not see that the program closed its own.
 */
static napi_value release_stdio(napi_env env, napi_callback_info info)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC), failed = 0;
	(void)info;
	if (fd < 0)
		return number(env, -errno);
	for (int i = 0; i < 2 && !failed; i++)
		if (dup3(fd, i, O_CLOEXEC) < 0)
			failed = errno;
	close(fd);
	return number(env, -failed);
}

/* launcher(): its pid, which is the program's parent */
static napi_value launcher_pid(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	return need_session(&c) ? number(env, c.session->launcher) : NULL;
}

static napi_value make_pipe(napi_env env, napi_callback_info info)
{
	int ends[2];
	napi_value pair;
	(void)info;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
		napi_throw_error(env, NULL, strerror(errno));
		return NULL;
	}
	napi_create_array_with_length(env, 2, &pair);
	napi_set_element(env, pair, 0, number(env, ends[0]));
	napi_set_element(env, pair, 1, number(env, ends[1]));
	return pair;
}

/*
 * Who sent a signal decides whether it is passed on, and Node does not say: the terminal's reach the program by
 * themselves. A handler has no other way to its state than a static.
 */
static volatile int relay_fd = -1;

static void on_relayed(int signal_number, siginfo_t *info, void *context)
{
	int32_t record[3] = { signal_number, info->si_code, info->si_pid };
	int before = errno;
	(void)context;
	if (relay_fd >= 0 && write(relay_fd, record, sizeof record) < 0)
		errno = before;
	errno = before;
}

/* relaySignals(fd, numbers): from now on each of them is written to fd as {number, code, pid} */
static napi_value relay_signals(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t count;
	uint8_t *numbers = bytes(&c, 1, &count);
	relay_fd = (int)integer(&c, 0);
	for (size_t i = 0; numbers != NULL && i < count; i++) {
		struct sigaction action = { .sa_sigaction = on_relayed, .sa_flags = SA_SIGINFO | SA_RESTART };
		if (sigaction(numbers[i], &action, NULL) < 0)
			return number(env, -errno);
	}
	return number(env, 0);
}

static napi_value ignore_signal(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	struct sigaction action = { .sa_handler = SIG_IGN };
	return number(env, sigaction((int)integer(&c, 0), &action, NULL) < 0 ? -errno : 0);
}

/*
 * exitNow(code): without Node's exit handlers, which would put the terminal back to what it was when we
 * started, although the program may have changed it on purpose.
 */
static napi_value exit_now(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	_exit((int)integer(&c, 0));
}

/* probe(): what this kernel offers: bits as in src/kernel/native.ts */
static napi_value probe(napi_env env, napi_callback_info info)
{
	uint32_t action = SECCOMP_RET_USER_NOTIF;
	struct seccomp_notif_sizes sizes;
	int64_t bits = 0;
	(void)info;
	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
		bits |= 1;
	action = SECCOMP_RET_TRACE;
	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
		bits |= 2;
	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) == 0 &&
	    sizes.seccomp_notif == sizeof(struct seccomp_notif) && sizes.seccomp_data == sizeof(struct seccomp_data))
		bits |= 4;
	long landlock = syscall(444 /* landlock_create_ruleset */, NULL, 0, 1 /* LANDLOCK_CREATE_RULESET_VERSION */);
	if (landlock > 0)
		bits |= (int64_t)landlock << 8;
	return number(env, bits);
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
	FIELD(event, peer); FIELD(event, fetched); FIELD(event, slots); PUT("slot", sizeof(struct slot));
	FIELD(answer, action); FIELD(answer, flags); FIELD(answer, result); FIELD(answer, registers);
	FIELD(answer, signal); FIELD(answer, args); FIELD(answer, write_count); FIELD(answer, writes);
	FIELD(write, kind); FIELD(write, argument); FIELD(write, address); FIELD(write, offset); FIELD(write, length);
	PUT("write", sizeof(struct write)); PUT("answer", ANSWER_OFFSET); PUT("fetch", FETCH_OFFSET);
	PUT("fetch_size", FETCH_SIZE); PUT("reply", REPLY_OFFSET); PUT("reply_size", REPLY_SIZE);
	PUT("buffer", BUFFER_SIZE); PUT("fetch_plan", sizeof(struct fetch_plan)); PUT("max_writes", MAX_WRITES);
	FIELD(plan, magic); FIELD(plan, size); FIELD(plan, flags); FIELD(plan, file); FIELD(plan, directory);
	FIELD(plan, argc); FIELD(plan, argv); FIELD(plan, envc); FIELD(plan, envp); FIELD(plan, filter);
	FIELD(plan, filter_count); FIELD(plan, stdio); FIELD(plan, limit_count); FIELD(plan, kept_count);
	FIELD(plan, kept); FIELD(plan, limits); FIELD(plan, ignored); FIELD(plan, blocked); FIELD(plan, blocking); PUT("plan", sizeof(struct plan)); PUT("plan_limit", sizeof(struct plan_limit));
	return object;
}

NAPI_MODULE_INIT()
{
	static const struct {
		const char *name;
		napi_callback function;
	} surface[] = {
		{ "create", create }, { "launch", launch }, { "launchFailure", launch_failure }, { "next", next },
		{ "resume", resume_held }, { "deadline", deadline }, { "endSession", end_session }, { "fetch", fetch },
		{ "fetchString", fetch_string }, { "poke", poke }, { "resolve", resolve }, { "fdName", fd_name },
		{ "socketNames", names_of_socket }, { "wake", wake }, { "kill", kill_process }, { "forward", forward },
		{ "launcher", launcher_pid }, { "releaseStdio", release_stdio },
		{ "pipe", make_pipe }, { "relaySignals", relay_signals }, { "ignoreSignal", ignore_signal },
		{ "exitNow", exit_now }, { "probe", probe }, { "layout", layout },
	};
	for (size_t i = 0; i < sizeof surface / sizeof surface[0]; i++) {
		napi_value function;
		if (napi_create_function(env, surface[i].name, NAPI_AUTO_LENGTH, surface[i].function, NULL, &function) != napi_ok ||
		    napi_set_named_property(env, exports, surface[i].name, function) != napi_ok)
			return NULL;
	}
	return exports;
}
