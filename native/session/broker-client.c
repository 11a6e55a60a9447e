/* The supervisor's side of the broker: one request, one reply. */
#define _GNU_SOURCE
#include "broker-client.h"
#include "../kernel/fd-message.h"
#include "../tracee/fd-copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* fd_message_send() does not stop for a wake-up signal: half a conversation would mix up the replies. */
static int send_message(int broker, const struct broker_request *request, const void *bytes, size_t length, int descriptor)
{
	struct iovec parts[2] = { { (void *)(uintptr_t)request, sizeof *request }, { (void *)(uintptr_t)bytes, length } };
	return fd_message_send(broker, parts, length ? 2 : 1, descriptor);
}

/*
 * The thread that decides and the thread that waits for the program may both send requests. The thread that decides may
 * have no session: it knows only the socket. So locks are found by socket, and no session waits for another.
 */
enum { LOCKS = 1024 };
static pthread_mutex_t locks[LOCKS] = { [0 ... LOCKS - 1] = PTHREAD_MUTEX_INITIALIZER };
static int owed[LOCKS]; /* replies that nobody has waited for yet; by socket, as the locks */

static ssize_t receive_reply(int broker, struct broker_reply *reply)
{
	ssize_t size;
	do
		size = recv(broker, reply, sizeof *reply, 0);
	while (size < 0 && errno == EINTR);
	return size;
}

/* The caller holds the lock. */
static void take_owed(int broker)
{
	struct broker_reply reply;
	for (; owed[broker % LOCKS] > 0; owed[broker % LOCKS]--)
		if (receive_reply(broker, &reply) < (ssize_t)offsetof(struct broker_reply, bytes))
			shutdown(broker, SHUT_RDWR);
}

/* Returns the result. `got`: how many bytes came with it. */
static int64_t send_request(int broker, const struct broker_request *request, const void *bytes, size_t length,
			    struct broker_reply *reply, size_t *got)
{
	ssize_t size;
	*got = 0;
	pthread_mutex_lock(&locks[broker % LOCKS]);
	take_owed(broker);
	int failed = send_message(broker, request, bytes, length, -1);
	size = failed ? -1 : receive_reply(broker, reply);
	pthread_mutex_unlock(&locks[broker % LOCKS]);
	if (failed)
		return failed;
	if (size < (ssize_t)offsetof(struct broker_reply, bytes)) { /* it has died or hangs: later replies must not count */
		shutdown(broker, SHUT_RDWR);
		return -EIO;
	}
	*got = (size_t)size - offsetof(struct broker_reply, bytes);
	return reply->result;
}

int broker_give_listener(int broker, int listener, uint32_t on_behalf_mark)
{
	const struct broker_request request = { .operation = BROKER_LISTENER, .fd = (int32_t)on_behalf_mark };
	return send_message(broker, &request, NULL, 0, listener);
}

/* ------------------------------------------------------------------ calls that it forwards */

/* What the path of the last forwarded call reaches, until the first request for just that. */
struct early_resolution {
	int known;
	pid_t tid;
	int dirfd;
	int flags;
	ssize_t length;
	struct pin pin;
	char path[PATH_MAX + 1];
	char name[2 * PATH_MAX];
};
static struct early_resolution *early_resolutions[LOCKS]; /* by socket, as the locks */

static void keep_early_resolution(int broker, const struct forwarded_call *passed, const char *bytes)
{
	pthread_mutex_lock(&locks[broker % LOCKS]);
	struct early_resolution **slot = &early_resolutions[broker % LOCKS], *f = *slot;
	if (f == NULL)
		f = *slot = calloc(1, sizeof *f);
	if (f != NULL) {
		f->known = 1;
		f->tid = (pid_t)passed->request.pid;
		f->dirfd = passed->dirfd;
		f->flags = passed->flags;
		f->length = (ssize_t)passed->length;
		f->pin = passed->pin;
		f->pin.owner = broker;
		f->pin.name[NAME_SIZE - 1] = 0;
		memcpy(f->path, bytes, passed->path_size);
		f->path[passed->path_size] = 0;
		memcpy(f->name, bytes + passed->path_size, passed->name_size);
	}
	pthread_mutex_unlock(&locks[broker % LOCKS]);
	if (f == NULL) {
		struct pin pin = passed->pin;
		pin.owner = broker;
		broker_release(&pin);
	}
}

void broker_drop_early_resolution(int broker)
{
	struct pin unused = { 0 };
	pthread_mutex_lock(&locks[broker % LOCKS]);
	struct early_resolution *f = early_resolutions[broker % LOCKS];
	if (f != NULL && f->known && f->pin.owner == broker) {
		unused = f->pin;
		f->known = 0;
	}
	pthread_mutex_unlock(&locks[broker % LOCKS]);
	broker_release(&unused);
}

/* Whether the request is answered by what came with the call. */
static int take_early_resolution(int broker, const struct broker_request *request, const char *path, struct pin *pin, char *into,
				 size_t size, ssize_t *length)
{
	pthread_mutex_lock(&locks[broker % LOCKS]);
	struct early_resolution *f = early_resolutions[broker % LOCKS];
	int same = f != NULL && f->known && f->pin.owner == broker && f->tid == request->tid && f->dirfd == request->fd &&
		   f->flags == request->flags && f->length <= (ssize_t)size && strcmp(f->path, path) == 0;
	if (same) {
		*pin = f->pin;
		*length = f->length;
		if (f->length > 0)
			memcpy(into, f->name, (size_t)f->length);
		f->known = 0;
	}
	pthread_mutex_unlock(&locks[broker % LOCKS]);
	return same;
}

int broker_next(int broker, int calls, struct seccomp_notif *request, int *is_last)
{
	struct {
		struct forwarded_call passed;
		char bytes[3 * PATH_MAX];
	} in;
	ssize_t size = recv(calls, &in, sizeof in, 0);
	if (size < 0)
		return -errno;
	const struct forwarded_call *passed = &in.passed;
	*is_last = size >= (ssize_t)sizeof *passed && passed->is_last;
	size_t bytes = size < (ssize_t)sizeof *passed ? 0 : (size_t)size - sizeof *passed;
	if (size < (ssize_t)sizeof *passed || passed->path_size > PATH_MAX || passed->name_size > 2 * PATH_MAX ||
	    (passed->length > 0 && passed->length != passed->name_size) || passed->path_size + passed->name_size != bytes)
		return -ENOENT;
	broker_drop_early_resolution(broker); /* of a call whose caller has died */
	if (passed->known)
		keep_early_resolution(broker, passed, in.bytes);
	*request = passed->request;
	return 0;
}

void broker_close(int broker)
{
	pthread_mutex_lock(&locks[broker % LOCKS]);
	owed[broker % LOCKS] = 0;
	free(early_resolutions[broker % LOCKS]);
	early_resolutions[broker % LOCKS] = NULL;
	pthread_mutex_unlock(&locks[broker % LOCKS]);
	close(broker);
}

/* ------------------------------------------------------------------ requests */

/* Asks what a path or a descriptor reaches. The reply is copied only as far as it fits. */
static ssize_t request_pin(int broker, const struct broker_request *request, const void *bytes, struct pin *pin, char *into,
			   size_t size)
{
	struct broker_reply reply;
	size_t got;
	int64_t length = send_request(broker, request, bytes, request->length, &reply, &got);
	if (length == -EIO || (length > 0 && ((size_t)length > size || (size_t)length > got))) {
		memset(pin, 0, sizeof *pin);
		pin->state = PIN_FAILED;
		pin->error = EIO;
		return -EIO;
	}
	*pin = reply.pin;
	pin->owner = broker;
	pin->name[NAME_SIZE - 1] = 0;
	if (length > 0)
		memcpy(into, reply.bytes, (size_t)length);
	return (ssize_t)length;
}

ssize_t broker_resolve(int broker, pid_t tid, int dirfd, const char *path, int flags, struct pin *pin, char *into, size_t size)
{
	if (broker == 0)
		return path_resolve(tid, dirfd, path, flags, pin, into, size);
	const struct broker_request request = { .operation = BROKER_RESOLVE, .tid = tid, .fd = dirfd, .flags = flags,
						.length = strlen(path) };
	ssize_t length;
	if (take_early_resolution(broker, &request, path, pin, into, size, &length))
		return length;
	return request_pin(broker, &request, path, pin, into, size);
}

ssize_t broker_pin_fd(int broker, pid_t tid, int fd, struct pin *pin, char *into, size_t size)
{
	if (broker == 0)
		return path_pin_fd(tid, fd, pin, into, size);
	const struct broker_request request = { .operation = BROKER_PIN_FD, .tid = tid, .fd = fd };
	return request_pin(broker, &request, NULL, pin, into, size);
}

void broker_release(struct pin *pin)
{
	if (pin->state == PIN_NONE)
		return;
	if (pin->owner == 0) {
		pin_release(pin);
		return;
	}
	/*
	 * Waits until the broker has closed it: a copy that outlives the call blocks a lease, or keeps a file system
	 * mounted.
	 */
	struct broker_request request = { .operation = BROKER_RELEASE, .pin = *pin };
	struct broker_reply reply;
	size_t got;
	if (pin->state != PIN_FAILED)
		send_request(pin->owner, &request, NULL, 0, &reply, &got); /* if the broker has died, so have its descriptors */
	pin->state = PIN_NONE;
}

void broker_release_later(struct pin *pin)
{
	const struct broker_request request = { .operation = BROKER_RELEASE, .pin = *pin };
	if (pin->owner == 0 || pin->state == PIN_NONE || pin->state == PIN_FAILED) {
		broker_release(pin);
		return;
	}
	pthread_mutex_lock(&locks[pin->owner % LOCKS]);
	if (send_message(pin->owner, &request, NULL, 0, -1) == 0)
		owed[pin->owner % LOCKS]++;
	pthread_mutex_unlock(&locks[pin->owner % LOCKS]);
	pin->state = PIN_NONE;
}

void broker_settle(int broker)
{
	if (broker <= 0)
		return;
	pthread_mutex_lock(&locks[broker % LOCKS]);
	take_owed(broker);
	pthread_mutex_unlock(&locks[broker % LOCKS]);
}

int broker_stat(const struct pin *pin, int levels, struct pin_facts *facts)
{
	struct broker_reply reply;
	size_t got;
	if (pin->owner == 0)
		return pin_stat(pin, levels, facts);
	const struct broker_request request = { .operation = BROKER_STAT, .flags = levels, .pin = *pin };
	int64_t failed = send_request(pin->owner, &request, NULL, 0, &reply, &got);
	if (failed == 0 && got < sizeof *facts)
		return -EIO;
	if (failed == 0)
		memcpy(facts, reply.bytes, sizeof *facts);
	return (int)failed;
}

long broker_process(const struct pin *pin)
{
	struct broker_reply reply;
	size_t got;
	if (pin->owner == 0)
		return pin->state == PIN_FOUND ? process_of_fd(pin->object) : -EBADF;
	const struct broker_request request = { .operation = BROKER_PROCESS, .pin = *pin };
	return (long)send_request(pin->owner, &request, NULL, 0, &reply, &got);
}

ssize_t broker_read(const struct pin *pin, uint64_t offset, void *into, size_t length)
{
	struct broker_reply reply;
	size_t sent;
	if (pin->owner == 0)
		return pin_read(pin, offset, into, length);
	const struct broker_request request = { .operation = BROKER_READ, .number = offset, .length = length, .pin = *pin };
	int64_t got = send_request(pin->owner, &request, NULL, 0, &reply, &sent);
	if (got > 0 && ((size_t)got > length || (size_t)got > sent))
		return -EIO;
	if (got > 0)
		memcpy(into, reply.bytes, (size_t)got);
	return (ssize_t)got;
}

void broker_free_call(struct on_behalf_call *call)
{
	for (int i = 0; i < MAX_PINS; i++)
		broker_release(&call->pins[i]);
	on_behalf_free(call);
}

int broker_make_call(int broker, uint64_t id, struct on_behalf_call *call)
{
	size_t addresses = call->address_count * (size_t)ADDRESS_SIZE, size = sizeof *call + addresses + call->snapshot_size;
	const struct broker_request request = { .operation = BROKER_MAKE_CALL, .tid = call->tid, .number = id, .length = size };
	uint8_t *bytes = malloc(size);
	int failed = bytes == NULL ? -ENOMEM : 0;
	if (bytes != NULL) {
		memcpy(bytes, call, sizeof *call);
		if (addresses)
			memcpy(bytes + sizeof *call, call->addresses, addresses);
		if (call->snapshot_size)
			memcpy(bytes + sizeof *call + addresses, call->snapshot, call->snapshot_size);
		failed = send_message(broker, &request, bytes, size, -1);
		free(bytes);
	}
	if (failed) {
		broker_free_call(call);
		return failed;
	}
	free(call->addresses);
	free(call->snapshot);
	free(call);
	return 0;
}
