/* The broker's side: takes one request after the other. Calls that may wait are made in threads of their own (deputy.c). */
#define _GNU_SOURCE
#include "broker.h"
#include "deputy.h"
#include "identity.h"
#include "settled.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct desk {
	int socket;
	int listener;
	int calls;
	struct settled *table;
	struct origins origins;
	struct {
		struct broker_request request;
		uint8_t bytes[BROKER_MOST];
	} in;
	struct broker_reply out;
};

/* The size of the request, 0 when the supervisor is gone. A descriptor that came with it is the listener. */
static size_t receive(struct desk *desk)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { &desk->in, sizeof desk->in };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room };
	ssize_t size;
	do
		size = recvmsg(desk->socket, &message, MSG_CMSG_CLOEXEC);
	while (size < 0 && errno == EINTR);
	struct cmsghdr *c = size > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (c != NULL && c->cmsg_type == SCM_RIGHTS)
		memcpy(&desk->listener, CMSG_DATA(c), sizeof desk->listener);
	return size < (ssize_t)sizeof desk->in.request || message.msg_flags & MSG_TRUNC ? 0 : (size_t)size;
}

/* `bytes`: how many of them are part of the reply. */
static void reply(struct desk *desk, int64_t result, size_t bytes)
{
	desk->out.result = result;
	while (send(desk->socket, &desk->out, offsetof(struct broker_reply, bytes) + bytes, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

static void reply_named(struct desk *desk, ssize_t length)
{
	reply(desk, length, length > 0 ? (size_t)length : 0);
}

/* What differs between a tracee and us: RESOLVE_APART, RESOLVE_AS_TRACEE. The supervisor adds what a call is about to change. */
static int ways_apart(struct desk *desk, pid_t tid)
{
	int sight = origin_sight(&desk->origins, tid, SIGHT_WHOLE);
	return (sight & SIGHT_APART ? RESOLVE_APART : 0) | (sight & SIGHT_STRANGER ? RESOLVE_AS_TRACEE : 0);
}

static void resolve(struct desk *desk, size_t length)
{
	const struct broker_request *r = &desk->in.request;
	char path[PATH_MAX + 1];
	if (length > PATH_MAX) {
		reply(desk, -ENAMETOOLONG, 0);
		return;
	}
	memcpy(path, desk->in.bytes, length);
	path[length] = 0;
	int flags = r->flags | ways_apart(desk, r->tid);
	reply_named(desk, path_resolve(r->tid, r->fd, path, flags, &desk->out.pin, (char *)desk->out.bytes, BROKER_BYTES - 1));
}

static uint8_t *copy_of(const uint8_t *bytes, size_t length)
{
	uint8_t *copy = length ? malloc(length) : NULL;
	if (copy == NULL && length)
		abort(); /* the caller would wait for ever */
	return length ? memcpy(copy, bytes, length) : NULL;
}

/* What was answered to nobody stays unanswered: the kernel fails the call when the listener is gone. */
static void make(struct desk *desk, size_t length)
{
	struct act *act = calloc(1, sizeof *act);
	if (act == NULL || length < sizeof *act)
		abort(); /* the caller would wait for ever */
	memcpy(act, desk->in.bytes, sizeof *act);
	const uint8_t *more = desk->in.bytes + sizeof *act;
	size_t addresses = act->address_count * (size_t)ADDRESS_SIZE;
	if (addresses + act->seen_size != length - sizeof *act)
		abort();
	act->addresses = copy_of(more, addresses);
	act->seen = copy_of(more + addresses, act->seen_size);
	for (int i = 0; i < MAX_PINS; i++)
		act->pins[i].owner = 0;
	int ways = ways_apart(desk, act->tid);
	act->apart |= (ways & RESOLVE_APART) != 0;
	act->as_tracee |= (ways & RESOLVE_AS_TRACEE) != 0;
	deputy_serve(desk->listener, NULL, desk->in.request.number, act);
}

static void serve_one(struct desk *desk, size_t size)
{
	struct broker_request *r = &desk->in.request;
	size_t length = size - sizeof *r;
	switch (r->order) {
	case BROKER_LISTENER:
		if (front_open(desk->listener, desk->calls, (uint32_t)r->fd, desk->table) < 0)
			abort();
		break;
	case BROKER_RESOLVE:
		resolve(desk, length);
		break;
	case BROKER_PIN_FD:
		reply_named(desk, path_pin_fd(r->tid, r->fd, &desk->out.pin, (char *)desk->out.bytes, BROKER_BYTES));
		break;
	case BROKER_RELEASE:
		pin_release(&r->pin);
		reply(desk, 0, 0);
		break;
	case BROKER_STAT:
		reply(desk, pin_stat(&r->pin, r->flags, (struct pin_facts *)(void *)desk->out.bytes), sizeof(struct pin_facts));
		break;
	case BROKER_PROCESS:
		reply(desk, r->pin.state == PIN_FOUND ? process_behind(r->pin.object) : -EBADF, 0);
		break;
	case BROKER_READ:
		reply_named(desk, pin_read(&r->pin, r->number, desk->out.bytes, r->length < BROKER_BYTES ? r->length : BROKER_BYTES));
		break;
	case BROKER_ACT:
		make(desk, length);
		break;
	default:
		abort();
	}
}

void broker_serve(int socket, int calls, struct settled *table)
{
	struct desk *desk = calloc(1, sizeof *desk);
	size_t size;
	if (desk == NULL)
		return;
	desk->socket = socket;
	desk->listener = -1;
	desk->calls = calls;
	desk->table = table;
	desk->origins.programs = &table->programs;
	while ((size = receive(desk)) > 0)
		serve_one(desk, size);
	free(desk);
}
