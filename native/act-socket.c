/* On-behalf acts on sockets: the tracee's own socket, the address that was decided on, and data read once. */
#define _GNU_SOURCE
#include "act.h"
#include "identity.h"
#include "sender.h"
#include "standin.h"
#include "procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { STREAM_PIECE = 64 * 1024, MAX_CONTROL = 64 * 1024, MAX_PASSED = 253 };

/* ------------------------------------------------------------------ addresses */

struct target {
	struct sockaddr_storage address;
	socklen_t size; /* 0: none */
};

static int is_unix_path(const struct target *t)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)&t->address;
	return t->size > offsetof(struct sockaddr_un, sun_path) && un->sun_family == AF_UNIX && un->sun_path[0];
}

/* The address that was decided on. A path in it has become a pin. */
static int64_t target_of(const struct act *act, uint32_t message, struct target *t)
{
	memset(t, 0, sizeof *t);
	if (message >= act->address_count)
		return 0;
	const uint8_t *record = act->addresses + message * ADDRESS_SIZE;
	memcpy(&t->size, record, sizeof(uint32_t));
	if (t->size > ADDRESS_SIZE - 4)
		return -EINVAL;
	memcpy(&t->address, record + 4, t->size);
	if (!is_unix_path(t) || act->nr == SYS_bind)
		return 0;
	if (message > 0) /* one pin, for the first: several named sockets in one call are not for us */
		return -EACCES;
	const struct pin *pin = &act->pins[0];
	if (pin->state != PIN_FOUND)
		return pin->state == PIN_FAILED ? -pin->error : pin->state == PIN_MISSING ? -ENOENT : -EACCES;
	struct sockaddr_un *un = (struct sockaddr_un *)&t->address;
	t->size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(own_fd_path(pin->object, un->sun_path)) + 1);
	return 0;
}

/* ------------------------------------------------------------------ connect and bind */

struct connecting {
	int fd;
	const struct target *to;
};

static int64_t connect_now(void *argument)
{
	const struct connecting *c = argument;
	return act_result(connect(c->fd, (const struct sockaddr *)&c->to->address, c->to->size));
}

/*
 * A Unix socket remembers which process connected: its other end can have a pidfd of that, and signal it or take its
 * descriptors. So a process makes the connection that is gone when it is made.
 */
static int64_t connect_socket(const struct act *act, int fd)
{
	struct target t;
	struct connecting c = { fd, &t };
	int64_t result = target_of(act, 0, &t);
	if (result || t.address.ss_family != AF_UNIX)
		return result ? result : connect_now(&c);
	if ((result = identity_show()) < 0)
		return result;
	result = standin_make(connect_now, &c);
	return identity_hide() < 0 ? -EACCES : result;
}

static int64_t bind_socket(const struct act *act, int fd)
{
	struct target t;
	int64_t failed = target_of(act, 0, &t);
	if (failed)
		return failed;
	return is_unix_path(&t) ? act_bind_path(act, fd, (struct sockaddr *)&t.address, t.size)
				: act_result(bind(fd, (struct sockaddr *)&t.address, t.size));
}

/* ------------------------------------------------------------------ sending */

struct outgoing {
	struct msghdr header;
	struct iovec pieces[IOV_MAX]; /* where the caller has the data */
	size_t piece_count;
	size_t total;
	struct iovec data; /* our copy of some of it, or of all */
	uint8_t *control;
	int passed[MAX_PASSED];
	int passed_count;
};

static void release(struct outgoing *o)
{
	for (int i = 0; i < o->passed_count; i++)
		close(o->passed[i]);
	act_data_free(&o->data);
	free(o->control);
	free(o);
}

static int64_t find_data(const struct act *act, uint64_t vectors, uint64_t count, struct outgoing *o)
{
	if (count > IOV_MAX)
		return -EMSGSIZE;
	if (count > 0 && act_take(act, vectors, o->pieces, count * sizeof o->pieces[0]) < 0)
		return -EFAULT;
	o->piece_count = count;
	for (uint64_t i = 0; i < count; i++) {
		if (o->pieces[i].iov_len > (size_t)INT_MAX - o->total)
			o->pieces[i].iov_len = (size_t)INT_MAX - o->total; /* as the kernel does: MAX_RW_COUNT */
		o->total += o->pieces[i].iov_len;
	}
	return 0;
}

/* Descriptors in a message are numbers of the sender's: pass copies of what they mean. */
static int64_t pass_descriptors(const struct act *act, struct cmsghdr *c, struct outgoing *o)
{
	size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	int *numbers = (int *)(void *)CMSG_DATA(c);
	for (size_t i = 0; i < count; i++) {
		if (o->passed_count >= MAX_PASSED)
			return -EINVAL;
		int copy = descriptor_of(act->tid, numbers[i]);
		if (copy < 0)
			return copy;
		o->passed[o->passed_count++] = numbers[i] = copy;
	}
	return 0;
}

/* A control message that leads a packet elsewhere than its address says (src/abi/control.ts has the same). */
static int is_route(const struct cmsghdr *c)
{
	enum { RETURNED_OPTIONS = 7, ROUTING_HEADER = 57, OLD_ROUTING_HEADER = 5, SCTP_TO_IPV4 = 7, SCTP_TO_IPV6 = 8 };
	switch (c->cmsg_level) {
	case IPPROTO_IP:
		return c->cmsg_type == RETURNED_OPTIONS;
	case IPPROTO_IPV6:
		return c->cmsg_type == ROUTING_HEADER || c->cmsg_type == OLD_ROUTING_HEADER;
	case IPPROTO_SCTP:
		return c->cmsg_type == SCTP_TO_IPV4 || c->cmsg_type == SCTP_TO_IPV6;
	default:
		return 0;
	}
}

static int64_t take_control(const struct act *act, uint64_t address, uint64_t length, struct outgoing *o)
{
	if (length == 0 || address == 0)
		return 0;
	if (length > MAX_CONTROL)
		return -ENOBUFS;
	o->control = calloc(1, length + CMSG_SPACE(sizeof(struct ucred))); /* see speak_for() */
	if (o->control == NULL)
		return -ENOMEM;
	if (act_take(act, address, o->control, length) < 0)
		return -EFAULT;
	o->header.msg_control = o->control;
	o->header.msg_controllen = length;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&o->header); c != NULL; c = CMSG_NXTHDR(&o->header, c)) {
		if (c->cmsg_len < CMSG_LEN(0) || (uint8_t *)c + c->cmsg_len > o->control + length)
			return -EINVAL;
		if (is_route(c) && !act->routed) /* there was none when it was decided on */
			return -EACCES;
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		int64_t failed = c->cmsg_type == SCM_RIGHTS ? pass_descriptors(act, c, o) : 0;
		if (failed)
			return failed;
		if (c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len >= CMSG_LEN(sizeof(struct ucred)) &&
		    (failed = sender_may_be(act, (struct ucred *)(void *)CMSG_DATA(c))) < 0)
			return failed;
	}
	return 0;
}

static int name_sender(struct outgoing *o, const struct identity *i)
{
	struct ucred who = { i->process, i->real_uid, i->real_gid };
	if (o->control == NULL && (o->control = calloc(1, CMSG_SPACE(sizeof who))) == NULL)
		return 0;
	size_t at = CMSG_ALIGN(o->header.msg_controllen);
	struct cmsghdr *c = (struct cmsghdr *)(void *)(o->control + at);
	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof who), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_CREDENTIALS };
	memcpy(CMSG_DATA(c), &who, sizeof who);
	o->header.msg_control = o->control;
	o->header.msg_controllen = at + CMSG_SPACE(sizeof who);
	return 1;
}

static int is_unix(int fd)
{
	int domain = 0;
	socklen_t size = sizeof domain;
	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0 || domain == AF_UNIX;
}

/* Nothing but a socket in the file system has permissions: those are the tracee's, as whom we ask. */
static int may_reach(const struct act *act, const struct target *t)
{
	return !is_unix_path(t) ||
	       syscall(SYS_faccessat2, act->pins[0].object, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) == 0;
}

struct sending {
	int fd;
	int flags;
	struct msghdr *header;
	struct ucred *named; /* the caller itself, as whom nobody else may send: it becomes whoever sends */
};

static int64_t send_now(void *argument)
{
	struct sending *s = argument;
	if (s->named)
		s->named->pid = getpid();
	return act_result(sendmsg(s->fd, s->header, s->flags | MSG_NOSIGNAL));
}

/*
 * The other end of a unix socket may ask who sends (SO_PASSCRED), and may have a pidfd of it (SO_PASSPIDFD). The message
 * says that it is the tracee; where we may not speak for another process, one sends it that is gone when it is sent.
 */
static int64_t send_to_unix(const struct act *act, struct sending *s, const struct target *t, struct outgoing *o)
{
	struct identity identity;
	size_t own = o->header.msg_controllen;
	int64_t result = identity_read(act->tid, &identity);
	if (result)
		return result;
	struct ucred *named = sender_named(&o->header);
	if (named && named->pid == identity.inner)
		named->pid = identity.process; /* it knows itself by another number than we do */
	if (geteuid() == 0 && may_reach(act, t) && (named ? sender_is(named, &identity) : name_sender(o, &identity))) {
		identity_pause();
		result = send_now(s);
		if (identity_resume() < 0)
			return -EACCES;
		if (result != -EPERM)
			return result;
		o->header.msg_controllen = own;
	}
	s->named = named && named->pid == identity.process ? named : NULL;
	result = identity_show();
	if (result < 0)
		return result;
	result = standin_make(send_now, s);
	return identity_hide() < 0 ? -EACCES : result;
}

static int64_t send_message(const struct act *act, int fd, struct target *t, struct outgoing *o, int flags)
{
	struct sending s = { fd, flags, &o->header, NULL };
	o->header.msg_name = t->size ? &t->address : NULL;
	o->header.msg_namelen = t->size;
	return is_unix(fd) ? send_to_unix(act, &s, t, o) : send_now(&s);
}

static int send_flags(const struct act *act);

/* A packet goes at once, or not at all. One that is longer than the socket's buffer never goes. */
static int64_t send_packet(struct act *act, int fd, struct target *t, struct outgoing *o, int flags)
{
	int room = 0;
	socklen_t size = sizeof room;
	if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, &size) == 0 && o->total > (size_t)room && o->total > UINT16_MAX)
		return -EMSGSIZE;
	int64_t failed = act_data_take(act, o->pieces, o->piece_count, 0, o->total, &o->data);
	return failed ? failed : send_message(act, fd, t, o, flags);
}

/* As much as the socket takes at a time: while it takes nothing, we hold nothing. */
static int64_t send_stream(struct act *act, int fd, struct target *t, struct outgoing *o, int flags)
{
	int waits = !(flags & MSG_DONTWAIT) && !(fcntl(fd, F_GETFL) & O_NONBLOCK);
	int64_t result = 0;
	do {
		size_t length = o->total - act->sent < STREAM_PIECE ? o->total - act->sent : STREAM_PIECE;
		int last = act->sent + length == o->total;
		struct pollfd ready = { fd, POLLOUT, 0 };
		if (waits && t->size == 0 && poll(&ready, 1, -1) < 0)
			return -errno;
		if ((result = act_data_take(act, o->pieces, o->piece_count, act->sent, length, &o->data)) < 0)
			break;
		int at_once = t->size == 0 ? MSG_DONTWAIT : 0;
		result = send_message(act, fd, t, o, (last ? flags : flags & ~MSG_OOB) | at_once);
		act_data_free(&o->data);
		if (result > 0) {
			act->sent += (size_t)result;
			o->header.msg_control = NULL; /* it went with the first byte */
			o->header.msg_controllen = 0;
			t->size = 0;
		}
	} while ((result > 0 && act->sent < o->total) || (result == -EAGAIN && waits && t->size == 0));
	if (result == -EINTR && waits)
		return result;
	return act->sent > 0 ? (int64_t)act->sent : result;
}

static int64_t send_outgoing(struct act *act, int fd, struct target *t, struct outgoing *o, int flags)
{
	int type = 0;
	socklen_t size = sizeof type;
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
		return -errno;
	o->header.msg_iov = &o->data;
	o->header.msg_iovlen = 1;
	return type == SOCK_STREAM ? send_stream(act, fd, t, o, flags) : send_packet(act, fd, t, o, flags);
}

static int64_t send_one(struct act *act, int fd, uint32_t message, uint64_t header, int flags)
{
	struct outgoing *o = calloc(1, sizeof *o);
	struct msghdr theirs;
	struct target t;
	if (o == NULL)
		return -ENOMEM;
	int64_t result = target_of(act, message, &t);
	if (result == 0 && act_take(act, header, &theirs, sizeof theirs) < 0)
		result = -EFAULT;
	if (result == 0)
		result = find_data(act, (uint64_t)(uintptr_t)theirs.msg_iov, theirs.msg_iovlen, o);
	if (result == 0 && act->sent == 0)
		result = take_control(act, (uint64_t)(uintptr_t)theirs.msg_control, theirs.msg_controllen, o);
	if (result == 0)
		result = send_outgoing(act, fd, &t, o, flags);
	release(o);
	return result;
}

static int tell_length(const struct act *act, uint64_t at, uint32_t sent)
{
	identity_pause();
	int failed = memory_write(act->tid, at + 56, &sent, sizeof sent);
	return identity_resume() < 0 || failed ? -EFAULT : 0;
}

static int64_t send_many(struct act *act, int fd)
{
	uint32_t count = (uint32_t)act->args[2], done = 0;
	int64_t result = 0;
	if (count > IOV_MAX)
		count = IOV_MAX;
	for (; done < count; done++) {
		uint64_t at = act->args[1] + done * 64ull;
		result = send_one(act, fd, done, at, send_flags(act));
		if (result < 0 && done > 0 && act->sent > 0)
			result = (int64_t)act->sent; /* what is gone is gone */
		if (result < 0)
			break;
		act->sent = 0;
		if (tell_length(act, at, (uint32_t)result) < 0)
			return -EFAULT;
	}
	return done > 0 ? done : result;
}

static int64_t send_to(struct act *act, int fd)
{
	struct target t;
	int64_t result = target_of(act, 0, &t);
	if (result)
		return result;
	struct outgoing *o = calloc(1, sizeof *o);
	if (o == NULL)
		return -ENOMEM;
	o->total = act->args[2] > INT_MAX ? INT_MAX : act->args[2];
	o->pieces[0] = (struct iovec){ (void *)(uintptr_t)act->args[1], o->total };
	o->piece_count = 1;
	result = send_outgoing(act, fd, &t, o, send_flags(act));
	release(o);
	return result;
}

int64_t act_sent(struct act *act)
{
	int64_t sent = (int64_t)act->sent;
	if (sent == 0 || act->nr != SYS_sendmmsg)
		return sent;
	return tell_length(act, act->args[1], (uint32_t)sent) < 0 ? -EFAULT : 1;
}

/* ------------------------------------------------------------------ all of them */

static int send_flags(const struct act *act)
{
	return act->nr == SYS_sendmsg ? (int)act->args[2] : act->nr == SYS_connect ? 0 : (int)act->args[3];
}

int act_socket_may_block(const struct act *act)
{
	if (send_flags(act) & MSG_DONTWAIT)
		return 0;
	int fd = descriptor_of(act->tid, (int)act->args[0]);
	if (fd < 0)
		return 0;
	int flags = fcntl(fd, F_GETFL);
	close(fd);
	return !(flags & O_NONBLOCK);
}

int64_t act_on_socket(struct act *act)
{
	int64_t result;
	int fd = descriptor_of(act->tid, (int)act->args[0]);
	if (fd < 0)
		return fd;
	if (act_socket_is_other(act, fd)) {
		close(fd);
		return -EACCES;
	}
	switch (act->nr) {
	case SYS_connect:
		result = connect_socket(act, fd);
		break;
	case SYS_bind:
		result = bind_socket(act, fd);
		break;
	case SYS_sendto:
		result = send_to(act, fd);
		break;
	case SYS_sendmsg:
		result = send_one(act, fd, 0, act->args[1], send_flags(act));
		break;
	default:
		result = send_many(act, fd);
	}
	close(fd);
	if (result == -EPIPE && act->nr != SYS_connect && !(send_flags(act) & MSG_NOSIGNAL))
		syscall(SYS_tkill, act->tid, SIGPIPE); /* ours was held back: it is the caller's */
	return result;
}
