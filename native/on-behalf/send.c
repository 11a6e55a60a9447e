/* Sending on behalf: the address that was decided on, and data that is read once. */
#define _GNU_SOURCE
#include "socket.h"
#include "../tracee/fd-copy.h"
#include "../tracee/identity.h"
#include "../tracee/memory.h"
#include "proxy-process.h"
#include "sender.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { STREAM_PIECE = 64 * 1024, MAX_CONTROL = 64 * 1024, MAX_PASSED = 253 };

int send_flags(const struct on_behalf_call *call)
{
	switch (call->nr) {
	case SYS_connect:
		return 0;
	case SYS_sendmsg:
		return (int)call->args[2];
	case SYS_sendto: /* which ignores it, where sendmsg refuses it */
		return (int)((unsigned int)call->args[3] & ~COMPATIBLE_LAYOUT);
	default:
		return (int)call->args[3];
	}
}

struct outgoing {
	struct msghdr header;
	struct iovec pieces[IOV_MAX]; /* the caller's addresses of the data */
	size_t piece_count;
	size_t total;
	struct iovec data; /* our copy of some or all of it */
	struct iovec sent; /* the same, or an address that cannot be read */
	uint8_t *control;
	int passed[MAX_PASSED];
	int passed_count;
};

static void release(struct outgoing *o)
{
	for (int i = 0; i < o->passed_count; i++)
		close(o->passed[i]);
	on_behalf_free_data(&o->data);
	free(o->control);
	free(o);
}

static int64_t find_data(const struct on_behalf_call *call, uint64_t vectors, uint64_t count, struct outgoing *o)
{
	if (count > IOV_MAX)
		return -EMSGSIZE;
	if (count > 0 && on_behalf_read(call, vectors, o->pieces, count * sizeof o->pieces[0]) < 0)
		return -EFAULT;
	o->piece_count = count;
	for (uint64_t i = 0; i < count; i++) {
		if (o->pieces[i].iov_len > (size_t)INT_MAX - o->total)
			o->pieces[i].iov_len = (size_t)INT_MAX - o->total; /* as the kernel does: MAX_RW_COUNT */
		o->total += o->pieces[i].iov_len;
	}
	return 0;
}

/* Descriptors in a message are numbers of the sender: pass copies of what they refer to. */
static int64_t pass_descriptors(const struct on_behalf_call *call, struct cmsghdr *c, struct outgoing *o)
{
	size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	int *numbers = (int *)(void *)CMSG_DATA(c);
	for (size_t i = 0; i < count; i++) {
		if (o->passed_count >= MAX_PASSED)
			return -EINVAL;
		int copy = copy_tracee_fd(call->tid, numbers[i]);
		if (copy < 0)
			return copy;
		o->passed[o->passed_count++] = numbers[i] = copy;
	}
	return 0;
}

/* Whether a control message routes a packet elsewhere than its address says (src/abi/control.ts has the same table). */
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

static int64_t take_control(const struct on_behalf_call *call, uint64_t address, uint64_t length, struct outgoing *o)
{
	if (length == 0 || address == 0)
		return 0;
	if (length > MAX_CONTROL)
		return -ENOBUFS;
	o->control = calloc(1, length + CMSG_SPACE(sizeof(struct ucred))); /* room for name_sender() */
	if (o->control == NULL)
		return -ENOMEM;
	if (on_behalf_read(call, address, o->control, length) < 0)
		return -EFAULT;
	o->header.msg_control = o->control;
	o->header.msg_controllen = length;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&o->header); c != NULL; c = CMSG_NXTHDR(&o->header, c)) {
		if (c->cmsg_len < CMSG_LEN(0) || (uint8_t *)c + c->cmsg_len > o->control + length)
			return -EINVAL;
		if (is_route(c) && !call->routed) /* there was none when the call was decided on */
			return -EACCES;
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		int64_t failed = c->cmsg_type == SCM_RIGHTS ? pass_descriptors(call, c, o) : 0;
		if (failed)
			return failed;
		if (c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len >= CMSG_LEN(sizeof(struct ucred)) &&
		    (failed = sender_may_be(call, (struct ucred *)(void *)CMSG_DATA(c))) < 0)
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

/* Only a socket in the file system has permissions. They are checked with the tracee's identity, which we have assumed. */
static int may_reach(const struct on_behalf_call *call, const struct target *t)
{
	return !t->is_path ||
	       syscall(SYS_faccessat2, call->pins[0].object, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) == 0;
}

struct sending {
	int fd;
	int flags;
	struct msghdr *header;
	struct ucred *named; /* names the caller, which only the caller may: the pid becomes that of the process that sends */
};

static int64_t send_now(void *argument)
{
	struct sending *s = argument;
	if (s->named)
		s->named->pid = getpid();
	return kernel_result(sendmsg(s->fd, s->header, s->flags | MSG_NOSIGNAL));
}

/*
 * The peer of a Unix socket may ask who sends (SO_PASSCRED), and may get a pidfd of it (SO_PASSPIDFD). The message names
 * the tracee. Where the kernel does not let us name another process, a proxy process sends it, and has exited a moment
 * later.
 */
static int64_t send_to_unix(const struct on_behalf_call *call, struct sending *s, const struct target *t, struct outgoing *o)
{
	struct identity identity;
	size_t own = o->header.msg_controllen;
	int64_t result = identity_read(call->tid, &identity);
	if (result)
		return result;
	struct ucred *named = sender_named(&o->header);
	if (named && named->pid == identity.inner)
		named->pid = identity.process; /* the caller's pid in its own pid namespace differs from ours */
	if (geteuid() == 0 && may_reach(call, t) && (named ? sender_is(named, &identity) : name_sender(o, &identity))) {
		identity_pause();
		result = send_now(s);
		if (identity_resume() < 0)
			return -EACCES;
		if (result != -EPERM)
			return result;
		o->header.msg_controllen = own;
	}
	s->named = named && named->pid == identity.process ? named : NULL;
	result = identity_show_ids();
	if (result < 0)
		return result;
	result = proxy_process_run(send_now, s);
	return identity_hide_ids() < 0 ? -EACCES : result;
}

static int64_t send_message(const struct on_behalf_call *call, int fd, struct target *t, struct outgoing *o, int flags)
{
	struct sending s = { fd, flags, &o->header, NULL };
	o->header.msg_name = t->size ? &t->address : NULL;
	o->header.msg_namelen = t->size;
	return is_unix(fd) ? send_to_unix(call, &s, t, o) : send_now(&s);
}

/*
 * Data that cannot be read is the last thing that the kernel finds wrong. So it gets an address at which nothing is mapped,
 * and says what comes first.
 */
static int64_t take_data(const struct on_behalf_call *call, struct outgoing *o, size_t from, size_t length)
{
	static const uintptr_t UNMAPPED = 8;
	int64_t failed = on_behalf_copy_data(call, o->pieces, o->piece_count, from, length, &o->data);
	o->sent = o->data;
	if (failed == -EFAULT)
		o->sent = (struct iovec){ (void *)UNMAPPED, length };
	return failed == -EFAULT ? 0 : failed;
}

/* A packet goes as a whole or not at all. One that is longer than the socket's buffer never goes. */
static int64_t send_packet(struct on_behalf_call *call, int fd, struct target *t, struct outgoing *o, int flags)
{
	int room = 0;
	socklen_t size = sizeof room;
	if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, &size) == 0 && o->total > (size_t)room && o->total > UINT16_MAX)
		return -EMSGSIZE;
	int64_t failed = take_data(call, o, 0, o->total);
	return failed ? failed : send_message(call, fd, t, o, flags);
}

/* Sends as much as the socket takes at a time. While it takes nothing, we hold no copy. */
static int64_t send_stream(struct on_behalf_call *call, int fd, struct target *t, struct outgoing *o, int flags)
{
	int waits = !(flags & MSG_DONTWAIT) && !(fcntl(fd, F_GETFL) & O_NONBLOCK);
	int64_t result = 0;
	do {
		size_t length = o->total - call->sent < STREAM_PIECE ? o->total - call->sent : STREAM_PIECE;
		int last = call->sent + length == o->total;
		struct pollfd ready = { fd, POLLOUT, 0 };
		if (waits && t->size == 0 && poll(&ready, 1, -1) < 0)
			return -errno;
		if ((result = take_data(call, o, call->sent, length)) < 0)
			break;
		int at_once = t->size == 0 ? MSG_DONTWAIT : 0;
		result = send_message(call, fd, t, o, (last ? flags : flags & ~MSG_OOB) | at_once);
		on_behalf_free_data(&o->data);
		if (result > 0) {
			call->sent += (size_t)result;
			o->header.msg_control = NULL; /* it went with the first byte */
			o->header.msg_controllen = 0;
			t->size = 0;
		}
	} while ((result > 0 && call->sent < o->total) || (result == -EAGAIN && waits && t->size == 0));
	if (result == -EINTR && waits)
		return result;
	return call->sent > 0 ? (int64_t)call->sent : result;
}

static int64_t send_outgoing(struct on_behalf_call *call, int fd, struct target *t, struct outgoing *o, int flags)
{
	int type = 0;
	socklen_t size = sizeof type;
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
		return -errno;
	o->header.msg_iov = &o->sent;
	o->header.msg_iovlen = 1;
	return type == SOCK_STREAM ? send_stream(call, fd, t, o, flags) : send_packet(call, fd, t, o, flags);
}

int64_t send_one(struct on_behalf_call *call, int fd, uint32_t message, uint64_t header, int flags)
{
	struct outgoing *o = calloc(1, sizeof *o);
	struct msghdr theirs;
	struct target t;
	if (o == NULL)
		return -ENOMEM;
	int64_t result = on_behalf_read(call, header, &theirs, sizeof theirs) < 0 ? -EFAULT : 0;
	if (result == 0 && theirs.msg_name != NULL && (int)theirs.msg_namelen < 0)
		result = -EINVAL;
	if (result == 0)
		result = find_data(call, (uint64_t)(uintptr_t)theirs.msg_iov, theirs.msg_iovlen, o);
	if (result == 0 && call->sent == 0)
		result = take_control(call, (uint64_t)(uintptr_t)theirs.msg_control, theirs.msg_controllen, o);
	if (result == 0)
		result = target_of(call, fd, message, &t);
	if (result == 0)
		result = send_outgoing(call, fd, &t, o, flags);
	release(o);
	return result;
}

static int tell_length(const struct on_behalf_call *call, uint64_t at, uint32_t sent)
{
	identity_pause();
	int failed = memory_write(call->tid, at + offsetof(struct mmsghdr, msg_len), &sent, sizeof sent);
	return identity_resume() < 0 || failed ? -EFAULT : 0;
}

int64_t send_many(struct on_behalf_call *call, int fd)
{
	uint32_t count = (uint32_t)call->args[2], done = 0;
	int64_t result = 0;
	if (count > IOV_MAX)
		count = IOV_MAX;
	for (; done < count; done++) {
		uint64_t at = call->args[1] + done * sizeof(struct mmsghdr);
		result = send_one(call, fd, done, at, send_flags(call));
		if (result < 0 && done > 0 && call->sent > 0)
			result = (int64_t)call->sent; /* those bytes cannot be called back */
		if (result < 0)
			break;
		call->sent = 0;
		if (tell_length(call, at, (uint32_t)result) < 0)
			return -EFAULT;
	}
	return done > 0 ? done : result;
}

int64_t send_to(struct on_behalf_call *call, int fd)
{
	struct target t;
	int64_t result = target_of(call, fd, 0, &t);
	if (result)
		return result;
	struct outgoing *o = calloc(1, sizeof *o);
	if (o == NULL)
		return -ENOMEM;
	o->total = call->args[2] > INT_MAX ? INT_MAX : call->args[2];
	o->pieces[0] = (struct iovec){ (void *)(uintptr_t)call->args[1], o->total };
	o->piece_count = 1;
	result = send_outgoing(call, fd, &t, o, send_flags(call));
	release(o);
	return result;
}

int64_t on_behalf_bytes_sent(struct on_behalf_call *call)
{
	int64_t sent = (int64_t)call->sent;
	if (sent == 0 || call->nr != SYS_sendmmsg)
		return sent;
	return tell_length(call, call->args[1], (uint32_t)sent) < 0 ? -EFAULT : 1;
}
