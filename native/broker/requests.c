/*
 * The broker serves the supervisor's requests one after the other. A call that may block is made in a thread of its own
 * (on-behalf/blocking-call.c).
 */
#define _GNU_SOURCE
#include "requests.h"
#include "../fastpath/fast-path.h"
#include "../kernel/fd-message.h"
#include "../on-behalf/blocking-call.h"
#include "../protocol/broker.h"
#include "../tracee/fd-copy.h"
#include "../tracee/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct broker {
	int socket;
	int listener;
	int calls;
	struct verdict_cache *cache;
	struct cwd_cache cwd_cache;
	struct {
		struct broker_request request;
		uint8_t bytes[BROKER_MAX];
	} in;
	struct broker_reply out;
};

/*
 * Returns the size of the request, 0 when the supervisor has closed its end. A descriptor that comes with it is the
 * listener.
 */
static size_t receive(struct broker *broker)
{
	ssize_t size;
	do
		size = fd_message_receive(broker->socket, &broker->in, sizeof broker->in, 0, &broker->listener);
	while (size < 0 && errno == EINTR);
	return size < (ssize_t)sizeof broker->in.request ? 0 : (size_t)size;
}

/* `bytes`: how many bytes the reply carries. */
static void reply(struct broker *broker, int64_t result, size_t bytes)
{
	broker->out.result = result;
	size_t size = offsetof(struct broker_reply, bytes) + bytes;
	while (send(broker->socket, &broker->out, size, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

static void reply_named(struct broker *broker, ssize_t length)
{
	reply(broker, length, length > 0 ? (size_t)length : 0);
}

/*
 * How the tracee differs from us: RESOLVE_OTHER_ROOT, RESOLVE_AS_TRACEE. The supervisor adds the flags that depend on the
 * call.
 */
static int resolve_flags_of(struct broker *broker, pid_t tid)
{
	return resolve_flags(cwd_cache_differences(&broker->cwd_cache, tid, DIFFERENT_ANY));
}

static void resolve(struct broker *broker, size_t length)
{
	const struct broker_request *r = &broker->in.request;
	char path[PATH_MAX + 1];
	if (length > PATH_MAX) {
		reply(broker, -ENAMETOOLONG, 0);
		return;
	}
	memcpy(path, broker->in.bytes, length);
	path[length] = 0;
	int flags = r->flags | resolve_flags_of(broker, r->tid);
	reply_named(broker, path_resolve(r->tid, r->fd, path, flags, &broker->out.pin, (char *)broker->out.bytes,
					 BROKER_BYTES - 1));
}

static uint8_t *copy_of(const uint8_t *bytes, size_t length)
{
	uint8_t *copy = length ? malloc(length) : NULL;
	if (copy == NULL && length)
		abort(); /* the caller would wait forever */
	return length ? memcpy(copy, bytes, length) : NULL;
}

/* A call that cannot be made is never answered. We abort, and the kernel fails the call when the listener is closed. */
static void make_call(struct broker *broker, size_t length)
{
	struct on_behalf_call *call = calloc(1, sizeof *call);
	if (call == NULL || length < sizeof *call)
		abort(); /* the caller would wait forever */
	memcpy(call, broker->in.bytes, sizeof *call);
	const uint8_t *more = broker->in.bytes + sizeof *call;
	size_t addresses = call->address_count * (size_t)ADDRESS_SIZE;
	if (addresses + call->snapshot_size != length - sizeof *call)
		abort();
	call->addresses = copy_of(more, addresses);
	call->snapshot = copy_of(more + addresses, call->snapshot_size);
	for (int i = 0; i < MAX_PINS; i++)
		call->pins[i].owner = 0;
	int ways = resolve_flags_of(broker, call->tid);
	call->other_root |= (ways & RESOLVE_OTHER_ROOT) != 0;
	call->as_tracee |= (ways & RESOLVE_AS_TRACEE) != 0;
	on_behalf_serve(broker->listener, NULL, broker->in.request.number, call);
}

static void serve_one(struct broker *broker, size_t size)
{
	struct broker_request *r = &broker->in.request;
	size_t length = size - sizeof *r;
	switch (r->operation) {
	case BROKER_LISTENER:
		if (fast_path_start(broker->listener, broker->calls, (uint32_t)r->fd, broker->cache) < 0)
			abort();
		break;
	case BROKER_RESOLVE:
		resolve(broker, length);
		break;
	case BROKER_PIN_FD:
		reply_named(broker, path_pin_fd(r->tid, r->fd, &broker->out.pin, (char *)broker->out.bytes, BROKER_BYTES));
		break;
	case BROKER_RELEASE:
		pin_release(&r->pin);
		reply(broker, 0, 0);
		break;
	case BROKER_STAT:
		reply(broker, pin_stat(&r->pin, r->flags, (struct pin_facts *)(void *)broker->out.bytes),
		      sizeof(struct pin_facts));
		break;
	case BROKER_PROCESS:
		reply(broker, r->pin.state == PIN_FOUND ? process_of_fd(r->pin.object) : -EBADF, 0);
		break;
	case BROKER_READ:
		reply_named(broker, pin_read(&r->pin, r->number, broker->out.bytes,
					     r->length < BROKER_BYTES ? r->length : BROKER_BYTES));
		break;
	case BROKER_MAKE_CALL:
		make_call(broker, length);
		break;
	default:
		abort();
	}
}

void broker_serve(int socket, int calls, struct verdict_cache *cache)
{
	struct broker *broker = calloc(1, sizeof *broker);
	size_t size;
	if (broker == NULL)
		return;
	broker->socket = socket;
	broker->listener = -1;
	broker->calls = calls;
	broker->cache = cache;
	broker->cwd_cache.exec_counter = &cache->exec_counter;
	while ((size = receive(broker)) > 0)
		serve_one(broker, size);
	free(broker);
}
