/* See keeper-client.h. */
#define _GNU_SOURCE
#include "keeper-client.h"
#include "../kernel/fd-message.h"
#include "../kernel/wake-signal.h"
#include "start-process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 5000, NOTICE_TURNS = 100, TURN_US = 5000 };

static int make_memory(struct session *s, const struct attach_order *order)
{
	void *map;
	int fd = share_memory("hermes-keep", sizeof(struct keeper_memory), &map);
	if (fd < 0)
		return fd;
	struct keeper_memory *keeper = map;
	keeper->magic = KEEPER_MAGIC;
	keeper->pid = order->pid;
	keeper->supervisor = getpid();
	keeper->worker = s->worker;
	keeper->wake_signal = WAKE_SIGNAL;
	keeper->note_size = order->note_size < NOTE_SIZE ? (uint32_t)order->note_size : 0;
	if (keeper->note_size > 0)
		memcpy(keeper->note, order->note, keeper->note_size);
	s->keeper = keeper;
	return fd;
}

static pid_t start(const struct attach_order *order, int socket_fd, int memory_fd, int pidfd)
{
	const int numbers[4] = { order->pid, socket_fd, memory_fd, pidfd };
	char texts[4][16];
	char *argv[] = { "hermes-keep", texts[0], texts[1], texts[2], texts[3], NULL };
	for (int i = 0; i < 4; i++)
		snprintf(texts[i], sizeof texts[i], "%d", numbers[i]);
	return start_process(order->launcher, argv, numbers + 1, 3);
}

int keeper_start(struct session *s, const struct attach_order *order)
{
	int pair[2];
	int memory = make_memory(s, order);
	if (memory < 0)
		return memory;
	int pidfd = (int)syscall(SYS_pidfd_open, order->pid, 0);
	int failed = pidfd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ? -errno : 0;
	if (!failed) {
		pid_t pid = start(order, pair[1], memory, pidfd);
		close(pair[1]);
		s->socket = pair[0];
		if (pid < 0)
			failed = pid;
		else
			s->launcher = pid;
	}
	if (pidfd >= 0)
		close(pidfd);
	close(memory);
	return failed;
}

static int wait_until_ready(int fd)
{
	struct pollfd ready = { fd, POLLIN, 0 };
	int got;
	do /* the keeper may wake us meanwhile */
		got = poll(&ready, 1, PATIENCE_MS);
	while (got < 0 && errno == EINTR);
	return got > 0 ? 0 : -ETIMEDOUT;
}

/* Before the keeper has it, the process must not be left alone. */
int keeper_give_listener(struct session *s)
{
	struct message message = { SUPERVISOR_GO, 0 };
	struct iovec bytes = { &message, sizeof message };
	int sent = fd_message_send(s->socket, &bytes, 1, s->listener);
	if (sent < 0)
		return sent;
	for (;;) {
		int failed = wait_until_ready(s->socket);
		if (failed)
			return failed;
		ssize_t size = recv(s->socket, &message, sizeof message, 0);
		if (size < 0 && errno == EINTR)
			continue;
		if (size != (ssize_t)sizeof message)
			return -EPIPE;
		if (message.kind == LAUNCHER_STARTED) {
			session_send(s, SUPERVISOR_ACK, 0);
			return 0;
		}
	}
}

/* ------------------------------------------------------------------ the keeper of an earlier HERMES */

static int descriptor(int pidfd, int number)
{
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	return fd < 0 ? -errno : fd;
}

int64_t keeper_note(pid_t keeper, char *into, size_t size)
{
	int pidfd = (int)syscall(SYS_pidfd_open, keeper, 0);
	if (pidfd < 0)
		return -errno;
	int fd = descriptor(pidfd, KEEPER_MEMORY_FD);
	close(pidfd);
	if (fd < 0)
		return fd;
	/* Read, not mapped: a process that pretends to be a keeper could shrink mapped memory. */
	struct keeper_memory *memory = malloc(sizeof *memory);
	ssize_t got = -1;
	/* A keeper whose supervisor was just killed may not have noticed yet. */
	for (int turn = 0; memory != NULL && turn < NOTICE_TURNS; turn++) {
		got = pread(fd, memory, sizeof *memory, 0);
		if (got != (ssize_t)sizeof *memory || atomic_load(&memory->alone))
			break;
		usleep(TURN_US);
	}
	int64_t length = -EINVAL;
	if (got == (ssize_t)sizeof *memory && memory->magic == KEEPER_MAGIC)
		length = atomic_load(&memory->alone) ? (int64_t)memory->note_size : -EBUSY;
	if (length > (int64_t)size || length > NOTE_SIZE)
		length = -EMSGSIZE;
	if (length > 0)
		memcpy(into, memory->note, (size_t)length);
	free(memory);
	close(fd);
	return length;
}

int keeper_take_over(struct session *s, pid_t keeper)
{
	int pidfd = (int)syscall(SYS_pidfd_open, keeper, 0);
	if (pidfd < 0)
		return -errno;
	int failed = 0;
	s->listener = descriptor(pidfd, KEEPER_LISTENER_FD);
	if (s->listener < 0)
		failed = s->listener;
	else if ((failed = keeper_give_listener(s)) == 0 && kill(keeper, HAND_OVER_SIGNAL) < 0)
		failed = -errno;
	if (!failed)
		failed = wait_until_ready(pidfd);
	close(pidfd);
	return failed;
}
