/* On-behalf calls on sockets: the tracee's own socket, and the address that was decided on. */
#define _GNU_SOURCE
#include "socket.h"
#include "../kernel/procfs.h"
#include "../tracee/fd-copy.h"
#include "../tracee/identity.h"
#include "proxy-process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* ------------------------------------------------------------------ addresses */

static int option_of(int fd, int name)
{
	int value = -1;
	socklen_t size = sizeof value;
	return getsockopt(fd, SOL_SOCKET, name, &value, &size) < 0 ? -1 : value;
}

/*
 * Whether the call would look the address up as a path. A socket of another family refuses it, and one with connections
 * does not send to addresses: the kernel gets it as it is, and its own error comes first.
 */
static int is_looked_up(const struct on_behalf_call *call, int fd, const struct target *t)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)&t->address;
	int is_path = t->size > offsetof(struct sockaddr_un, sun_path) && un->sun_family == AF_UNIX && un->sun_path[0];
	int sends = call->nr != SYS_connect && call->nr != SYS_bind;
	return is_path && option_of(fd, SO_DOMAIN) == AF_UNIX && (!sends || option_of(fd, SO_TYPE) == SOCK_DGRAM);
}

int64_t target_of(const struct on_behalf_call *call, int fd, uint32_t message, struct target *t)
{
	memset(t, 0, sizeof *t);
	if (message >= call->address_count)
		return 0;
	const uint8_t *record = call->addresses + message * ADDRESS_SIZE;
	memcpy(&t->size, record, sizeof(uint32_t));
	if (t->size > ADDRESS_SIZE - 4)
		return -EINVAL;
	memcpy(&t->address, record + 4, t->size);
	t->is_path = is_looked_up(call, fd, t);
	if (t->is_path && t->size > sizeof(struct sockaddr_un))
		return -EINVAL;
	if (!t->is_path || call->nr == SYS_bind)
		return 0;
	if (message > 0) /* there is one pin, for the first message: several socket paths in one call are refused */
		return -EACCES;
	const struct pin *pin = &call->pins[0];
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
	return kernel_result(connect(c->fd, (const struct sockaddr *)&c->to->address, c->to->size));
}

/*
 * A Unix socket remembers which process connected. Its peer can get a pidfd of that process, and by it signal it or take
 * its descriptors. So a proxy process connects, and has exited a moment later.
 */
static int64_t connect_socket(const struct on_behalf_call *call, int fd)
{
	struct target t;
	struct connecting c = { fd, &t };
	int64_t result = target_of(call, fd, 0, &t);
	if (result || t.address.ss_family != AF_UNIX)
		return result ? result : connect_now(&c);
	if ((result = identity_show_ids()) < 0)
		return result;
	result = proxy_process_run(connect_now, &c);
	return identity_hide_ids() < 0 ? -EACCES : result;
}

static int64_t bind_socket(const struct on_behalf_call *call, int fd)
{
	struct target t;
	int64_t failed = target_of(call, fd, 0, &t);
	if (failed)
		return failed;
	return t.is_path ? on_behalf_bind_path(call, fd, (struct sockaddr *)&t.address, t.size)
				: kernel_result(bind(fd, (struct sockaddr *)&t.address, t.size));
}

/* ------------------------------------------------------------------ dispatch */

int on_behalf_socket_may_block(const struct on_behalf_call *call)
{
	if (send_flags(call) & MSG_DONTWAIT)
		return 0;
	int fd = copy_tracee_fd(call->tid, (int)call->args[0]);
	if (fd < 0)
		return 0;
	int flags = fcntl(fd, F_GETFL);
	close(fd);
	return !(flags & O_NONBLOCK);
}

/* Another thread may have reused the descriptor's number for another socket since the decision. */
static int socket_changed(const struct on_behalf_call *call, int fd)
{
	int type = call->no_stream ? option_of(fd, SO_TYPE) : 0;
	return type < 0 || type == SOCK_STREAM;
}

/* The error that comes before any look at the address. */
static int64_t refused_at_once(const struct on_behalf_call *call, int fd)
{
	int type, length = 0;
	socklen_t size = sizeof type;
	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0) /* it is no socket, or only names one (O_PATH) */
		return -errno;
	if (call->nr == SYS_connect || call->nr == SYS_bind)
		length = (int)call->args[2];
	else if (call->nr == SYS_sendto && call->args[4] != 0)
		length = (int)call->args[5];
	return length < 0 || (size_t)length > sizeof(struct sockaddr_storage) ? -EINVAL : 0;
}

int64_t on_behalf_socket(struct on_behalf_call *call)
{
	int of_messages = call->nr == SYS_sendmsg || call->nr == SYS_sendmmsg;
	if (of_messages && (unsigned int)send_flags(call) & COMPATIBLE_LAYOUT)
		return -EINVAL;
	int fd = copy_tracee_fd(call->tid, (int)call->args[0]);
	if (fd < 0)
		return fd;
	int64_t result = refused_at_once(call, fd);
	if (result) {
		close(fd);
		return result;
	}
	if (socket_changed(call, fd)) {
		close(fd);
		return -EACCES;
	}
	switch (call->nr) {
	case SYS_connect:
		result = connect_socket(call, fd);
		break;
	case SYS_bind:
		result = bind_socket(call, fd);
		break;
	case SYS_sendto:
		result = send_to(call, fd);
		break;
	case SYS_sendmsg:
		result = send_one(call, fd, 0, call->args[1], send_flags(call));
		break;
	default:
		result = send_many(call, fd);
	}
	close(fd);
	if (result == -EPIPE && call->nr != SYS_connect && !(send_flags(call) & MSG_NOSIGNAL))
		syscall(SYS_tkill, call->tid, SIGPIPE); /* our own was suppressed: the signal is the caller's */
	return result;
}
