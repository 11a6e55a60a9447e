/* A stand-in of the resident process: takes callers and their requests, one after the other. */
#define _GNU_SOURCE
#include "values.h"
#include "../kernel/exchange.h"
#include "../kernel/fd-message.h"
#include "../kernel/place.h"
#include "../protocol/resident.h"
#include "../resident/stand-ins.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD /* Linux 6.5; older headers lack it */
#define SO_PEERPIDFD 77
#endif

/* The caller has its request ready before it connects. */
enum { REQUEST_MS = 2000 };

/* The process that connected, and a descriptor of it, by which a later process of its number is told from it. */
struct caller {
	pid_t pid;
	int pidfd;
};

static int find_caller(int socket, struct caller *caller)
{
	struct ucred peer;
	socklen_t size = sizeof peer, fd_size = sizeof caller->pidfd;
	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.uid != geteuid() || peer.pid <= 0)
		return -1;
	caller->pid = peer.pid;
	if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &caller->pidfd, &fd_size) < 0)
		caller->pidfd = (int)syscall(SYS_pidfd_open, peer.pid, 0);
	return caller->pidfd < 0 ? -1 : 0;
}

static int lives(const struct caller *caller)
{
	struct pollfd ended = { caller->pidfd, POLLIN, 0 };
	return poll(&ended, 1, 0) == 0;
}

/* Who listens is our parent: it is what callers compare themselves with. */
static int may_be_served(const struct caller *caller)
{
	return in_same_place(caller->pid, getppid()) && lives(caller);
}

static int greet(int socket, const struct caller *caller, int64_t until)
{
	char sight[MAX_SIGHT];
	ssize_t size = sight_of(caller->pid, sight, sizeof sight);
	struct hello hello = { RESIDENT_MAGIC, (uint32_t)size };
	return size > 0 && lives(caller) && send_all(socket, &hello, sizeof hello, until) == 0 &&
			       send_all(socket, sight, (size_t)size, until) == 0
		       ? 0
		       : -1;
}

static int has_seen_us(int socket, size_t size, int64_t until)
{
	char theirs[MAX_SIGHT], right[MAX_SIGHT];
	ssize_t expected = sight_of(getppid(), right, sizeof right);
	return expected > 0 && (size_t)expected == size && receive_all(socket, theirs, size, until) == 0 &&
	       memcmp(theirs, right, size) == 0;
}

/* The first part comes with the caller's folder. */
static int receive_request(int socket, struct request *request, int *folder, int64_t until)
{
	struct pollfd one = { socket, POLLIN, 0 };
	if (poll(&one, 1, REQUEST_MS) != 1)
		return -1;
	ssize_t got = fd_message_receive(socket, request, sizeof *request, MSG_DONTWAIT, folder);
	if (got <= 0 || receive_all(socket, (char *)request + got, sizeof *request - (size_t)got, until) < 0)
		return -1;
	return request->magic == RESIDENT_MAGIC && *folder >= 0 && request->words_size <= MAX_WORDS &&
			       request->environment_size <= MAX_ENVIRONMENT && request->input_size <= MAX_INPUT
		       ? 0
		       : -1;
}

static size_t text_size(const struct request *request)
{
	return (size_t)request->words_size + request->environment_size + request->input_size;
}

/* The texts of a caller that may be served, or NULL. */
static char *converse(int socket, struct request *request, int *folder)
{
	const int64_t until = now_ms() + REQUEST_MS;
	struct caller caller = { 0, -1 };
	char *texts = NULL;
	if (find_caller(socket, &caller) == 0 && may_be_served(&caller) && greet(socket, &caller, until) == 0 &&
	    receive_request(socket, request, folder, until) == 0 && has_seen_us(socket, request->sight_size, until))
		texts = malloc(text_size(request) + 1);
	if (texts != NULL && receive_all(socket, texts, text_size(request), until) < 0) {
		free(texts);
		texts = NULL;
	}
	if (caller.pidfd >= 0)
		close(caller.pidfd);
	return texts;
}

static void say(int control, char what)
{
	send(control, &what, 1, MSG_NOSIGNAL);
}

enum { NO_MORE = -1, QUIET = -2 };

/* The next connection; NO_MORE when the resident process wants us to end, or has ended. */
static int next_connection(int listener, int control, int patience)
{
	say(control, SAYS_FREE);
	for (;;) {
		struct pollfd both[2] = { { listener, POLLIN, 0 }, { control, POLLIN, 0 } };
		int ready = poll(both, 2, patience);
		if (ready == 0)
			return QUIET;
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready < 0 || both[1].revents)
			return NO_MORE;
		/* Another stand-in may have been faster. */
		int connection = both[0].revents ? accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;
		if (connection >= 0) {
			say(control, SAYS_BUSY);
			return connection;
		}
	}
}

/*
 * takeRequest(facts, patience): waits for the next caller. Fills facts, six int32: connection, folder, umask, and the sizes of
 * words, environment and input. Returns these texts as one buffer; 0 when there was none for so many milliseconds; -1 when there
 * will be no more.
 */
static napi_value take_request(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t size;
	int32_t *facts = (int32_t *)bytes(&c, 0, &size);
	const int patience = (int)integer(&c, 1);
	if (facts == NULL || size < 6 * sizeof *facts)
		return number(env, NO_MORE);
	for (;;) {
		struct request request;
		int folder = -1, connection = next_connection(STAND_IN_LISTENER, STAND_IN_CONTROL, patience);
		if (connection < 0)
			return number(env, connection == QUIET ? 0 : NO_MORE);
		char *texts = converse(connection, &request, &folder);
		if (texts != NULL) {
			const int32_t all[6] = { connection, folder, (int32_t)request.umask, (int32_t)request.words_size,
						 (int32_t)request.environment_size, (int32_t)request.input_size };
			memcpy(facts, all, sizeof all);
			napi_value result = text(env, texts, text_size(&request));
			explicit_bzero(texts, text_size(&request));
			free(texts);
			return result;
		}
		if (folder >= 0)
			close(folder);
		close(connection);
	}
}

/* giveReply(connection, status, stdout, stderr): closes the connection. */
static napi_value give_reply(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t out_size, err_size;
	int connection = (int)integer(&c, 0);
	const uint8_t *out = bytes(&c, 2, &out_size), *err = bytes(&c, 3, &err_size);
	struct reply reply = { RESIDENT_MAGIC, (uint32_t)integer(&c, 1), (uint32_t)out_size, (uint32_t)err_size };
	const int64_t until = now_ms() + REQUEST_MS;
	int failed = send_all(connection, &reply, sizeof reply, until) < 0 || send_all(connection, out, out_size, until) < 0 ||
		     send_all(connection, err, err_size, until) < 0;
	close(connection);
	return number(env, failed ? -EPIPE : 0);
}

napi_status export_resident_functions(napi_env env, napi_value exports)
{
	static const struct exported surface[] = { { "takeRequest", take_request }, { "giveReply", give_reply } };
	return export_functions(env, exports, surface, sizeof surface / sizeof surface[0]);
}
