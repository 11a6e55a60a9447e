/* The supervisor's side of the broker: one request, one reply. */
#define _GNU_SOURCE
#include "broker.h"
#include "deputy.h"
#include "identity.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Signals that wake the worker do not end a conversation: the next reply would be taken for this one. */
static int post(int broker, const struct broker_request *request, const void *bytes, size_t length, int descriptor)
{
	struct iovec parts[2] = { { (void *)(uintptr_t)request, sizeof *request }, { (void *)(uintptr_t)bytes, length } };
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = length ? 2 : 1 };
	if (descriptor >= 0) {
		message.msg_control = control.room;
		message.msg_controllen = sizeof control.room;
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
	}
	ssize_t sent;
	do
		sent = sendmsg(broker, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

/* The thread that decides and the one that waits for the program may both have a question. */
enum { LOCKS = 1024 };
static pthread_mutex_t locks[LOCKS] = { [0 ... LOCKS - 1] = PTHREAD_MUTEX_INITIALIZER }; /* by socket: no session waits for another */

/* The result; `got`: so many bytes came with it. */
static int64_t ask(int broker, const struct broker_request *request, const void *bytes, size_t length,
		   struct broker_reply *reply, size_t *got)
{
	ssize_t size;
	*got = 0;
	pthread_mutex_lock(&locks[broker % LOCKS]);
	int failed = post(broker, request, bytes, length, -1);
	do
		size = failed ? -1 : recv(broker, reply, sizeof *reply, 0);
	while (!failed && size < 0 && errno == EINTR);
	pthread_mutex_unlock(&locks[broker % LOCKS]);
	if (failed)
		return failed;
	if (size < (ssize_t)offsetof(struct broker_reply, bytes)) { /* it is gone, or stuck: nothing it says later counts */
		shutdown(broker, SHUT_RDWR);
		return -EIO;
	}
	*got = (size_t)size - offsetof(struct broker_reply, bytes);
	return reply->result;
}

int broker_take(int broker, int listener, uint32_t act_mark)
{
	const struct broker_request request = { .order = BROKER_LISTENER, .fd = (int32_t)act_mark };
	return post(broker, &request, NULL, 0, listener);
}

/* ------------------------------------------------------------------ what it passes on */

/* Of the call that was passed on last: what its path reaches, until somebody asks for just that. */
struct foresight {
	int known;
	pid_t tid;
	int dirfd;
	int flags;
	ssize_t length;
	struct pin pin;
	char path[PATH_MAX + 1];
	char name[2 * PATH_MAX];
};
static struct foresight *foresights[LOCKS]; /* by socket, as the locks */

static void keep_foresight(int broker, const struct passed_on *passed, const char *bytes)
{
	pthread_mutex_lock(&locks[broker % LOCKS]);
	struct foresight **place = &foresights[broker % LOCKS], *f = *place;
	if (f == NULL)
		f = *place = calloc(1, sizeof *f);
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

void broker_forget(int broker)
{
	struct pin unused = { 0 };
	pthread_mutex_lock(&locks[broker % LOCKS]);
	struct foresight *f = foresights[broker % LOCKS];
	if (f != NULL && f->known && f->pin.owner == broker) {
		unused = f->pin;
		f->known = 0;
	}
	pthread_mutex_unlock(&locks[broker % LOCKS]);
	broker_release(&unused);
}

/* Whether what is asked is known already. */
static int foreseen(int broker, const struct broker_request *request, const char *path, struct pin *pin, char *into,
		    size_t size, ssize_t *length)
{
	pthread_mutex_lock(&locks[broker % LOCKS]);
	struct foresight *f = foresights[broker % LOCKS];
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

int broker_next(int broker, int calls, struct seccomp_notif *request)
{
	struct {
		struct passed_on passed;
		char bytes[3 * PATH_MAX];
	} in;
	ssize_t size = recv(calls, &in, sizeof in, 0);
	if (size < 0)
		return -errno;
	const struct passed_on *passed = &in.passed;
	size_t bytes = size < (ssize_t)sizeof *passed ? 0 : (size_t)size - sizeof *passed;
	if (size < (ssize_t)sizeof *passed || passed->path_size > PATH_MAX || passed->name_size > 2 * PATH_MAX ||
	    (passed->length > 0 && passed->length != passed->name_size) || passed->path_size + passed->name_size != bytes)
		return -ENOENT;
	broker_forget(broker); /* of a call whose caller died */
	if (passed->known)
		keep_foresight(broker, passed, in.bytes);
	*request = passed->request;
	return 0;
}

void broker_close(int broker)
{
	pthread_mutex_lock(&locks[broker % LOCKS]);
	free(foresights[broker % LOCKS]);
	foresights[broker % LOCKS] = NULL;
	pthread_mutex_unlock(&locks[broker % LOCKS]);
	close(broker);
}

/* ------------------------------------------------------------------ what it is asked */

/* Asks what a path or a descriptor reaches. What the reply says is copied only as far as it fits. */
static ssize_t ask_pin(int broker, const struct broker_request *request, const void *bytes, struct pin *pin, char *into, size_t size)
{
	struct broker_reply reply;
	size_t got;
	int64_t length = ask(broker, request, bytes, request->length, &reply, &got);
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
	const struct broker_request request = { .order = BROKER_RESOLVE, .tid = tid, .fd = dirfd, .flags = flags, .length = strlen(path) };
	ssize_t length;
	if (foreseen(broker, &request, path, pin, into, size, &length))
		return length;
	return ask_pin(broker, &request, path, pin, into, size);
}

ssize_t broker_pin_fd(int broker, pid_t tid, int fd, struct pin *pin, char *into, size_t size)
{
	if (broker == 0)
		return path_pin_fd(tid, fd, pin, into, size);
	const struct broker_request request = { .order = BROKER_PIN_FD, .tid = tid, .fd = fd };
	return ask_pin(broker, &request, NULL, pin, into, size);
}

void broker_release(struct pin *pin)
{
	if (pin->state == PIN_NONE)
		return;
	if (pin->owner == 0) {
		pin_release(pin);
		return;
	}
	/* It waits until that is done: a copy that outlives the call keeps a lease from being had, or a file system mounted. */
	struct broker_request request = { .order = BROKER_RELEASE, .pin = *pin };
	struct broker_reply reply;
	size_t got;
	if (pin->state != PIN_FAILED)
		ask(pin->owner, &request, NULL, 0, &reply, &got); /* if it is gone, so is what it held */
	pin->state = PIN_NONE;
}

int broker_stat(const struct pin *pin, int levels, struct pin_facts *facts)
{
	struct broker_reply reply;
	size_t got;
	if (pin->owner == 0)
		return pin_stat(pin, levels, facts);
	const struct broker_request request = { .order = BROKER_STAT, .flags = levels, .pin = *pin };
	int64_t failed = ask(pin->owner, &request, NULL, 0, &reply, &got);
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
		return pin->state == PIN_FOUND ? process_behind(pin->object) : -EBADF;
	const struct broker_request request = { .order = BROKER_PROCESS, .pin = *pin };
	return (long)ask(pin->owner, &request, NULL, 0, &reply, &got);
}

ssize_t broker_read(const struct pin *pin, uint64_t offset, void *into, size_t length)
{
	struct broker_reply reply;
	size_t sent;
	if (pin->owner == 0)
		return pin_read(pin, offset, into, length);
	const struct broker_request request = { .order = BROKER_READ, .number = offset, .length = length, .pin = *pin };
	int64_t got = ask(pin->owner, &request, NULL, 0, &reply, &sent);
	if (got > 0 && ((size_t)got > length || (size_t)got > sent))
		return -EIO;
	if (got > 0)
		memcpy(into, reply.bytes, (size_t)got);
	return (ssize_t)got;
}

void broker_discard(struct act *act)
{
	for (int i = 0; i < MAX_PINS; i++)
		broker_release(&act->pins[i]);
	act_discard(act);
}

int broker_act(int broker, uint64_t id, struct act *act)
{
	size_t addresses = act->address_count * (size_t)ADDRESS_SIZE, size = sizeof *act + addresses + act->seen_size;
	const struct broker_request request = { .order = BROKER_ACT, .tid = act->tid, .number = id, .length = size };
	uint8_t *bytes = malloc(size);
	int failed = bytes == NULL ? -ENOMEM : 0;
	if (bytes != NULL) {
		memcpy(bytes, act, sizeof *act);
		if (addresses)
			memcpy(bytes + sizeof *act, act->addresses, addresses);
		if (act->seen_size)
			memcpy(bytes + sizeof *act + addresses, act->seen, act->seen_size);
		failed = post(broker, &request, bytes, size, -1);
		free(bytes);
	}
	if (failed) {
		broker_discard(act);
		return failed;
	}
	free(act->addresses);
	free(act->seen);
	free(act);
	return 0;
}
