/* The supervisor's side of a keeper (keep.h): starting one, giving it the listener, taking over from an earlier one. */
#define _GNU_SOURCE
#include "attach.h"

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

static int share_memory(struct session *s, const struct attach_order *order)
{
	int fd = memfd_create("hermes-keep", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	struct keep *keep = MAP_FAILED;
	if (ftruncate(fd, sizeof *keep) == 0)
		keep = mmap(NULL, sizeof *keep, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (keep == MAP_FAILED) {
		int failed = -errno;
		close(fd);
		return failed;
	}
	keep->magic = KEEP_MAGIC;
	keep->pid = order->pid;
	keep->supervisor = getpid();
	keep->worker = s->worker;
	keep->wake_signal = WAKE_SIGNAL;
	keep->note_size = order->note_size < NOTE_SIZE ? (uint32_t)order->note_size : 0;
	if (keep->note_size > 0)
		memcpy(keep->note, order->note, keep->note_size);
	s->kept = keep;
	return fd;
}

/* As start_launcher() in spawn.c: vfork, because copying Node's page tables costs a millisecond. */
static pid_t start(const struct attach_order *order, int socket_fd, int memory_fd, int pidfd)
{
	char texts[4][16];
	char *argv[] = { "hermes-keep", texts[0], texts[1], texts[2], texts[3], NULL };
	char *envp[] = { NULL };
	int numbers[4] = { order->pid, socket_fd, memory_fd, pidfd };
	sigset_t every, before;
	for (int i = 0; i < 4; i++)
		snprintf(texts[i], sizeof texts[i], "%d", numbers[i]);
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	volatile int failed = 0;
	pid_t pid = vfork();
	if (pid == 0) {
		for (int i = 1; i < 4; i++)
			fcntl(numbers[i], F_SETFD, 0);
		execve(order->launcher, argv, envp);
		failed = errno;
		_exit(125);
	}
	int forked = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pid > 0 && failed)
		waitpid(pid, NULL, 0);
	return pid < 0 ? -forked : failed ? -failed : pid;
}

int kept_start(struct session *s, const struct attach_order *order)
{
	int pair[2];
	int memory = share_memory(s, order);
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

/* Until it says that it has it: before that the process must not be left to itself. */
int kept_give_listener(struct session *s)
{
	struct message message = { TELL_GO, 0 };
	struct iovec bytes = { &message, sizeof message };
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct msghdr header = { .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control,
				 .msg_controllen = sizeof control };
	struct cmsghdr *with = CMSG_FIRSTHDR(&header);
	with->cmsg_level = SOL_SOCKET;
	with->cmsg_type = SCM_RIGHTS;
	with->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(with), &s->listener, sizeof(int));
	if (sendmsg(s->socket, &header, MSG_NOSIGNAL) < 0)
		return -errno;
	for (;;) {
		int failed = wait_until_ready(s->socket);
		if (failed)
			return failed;
		ssize_t size = recv(s->socket, &message, sizeof message, 0);
		if (size < 0 && errno == EINTR)
			continue;
		if (size != (ssize_t)sizeof message)
			return -EPIPE;
		if (message.kind == SAY_STARTED) {
			session_tell(s, TELL_HEARD, 0);
			return 0;
		}
	}
}

/* ------------------------------------------------------------------ one who kept it before */

static int descriptor(int pidfd, int number)
{
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	return fd < 0 ? -errno : fd;
}

int64_t kept_note(pid_t keeper, char *into, size_t size)
{
	int pidfd = (int)syscall(SYS_pidfd_open, keeper, 0);
	if (pidfd < 0)
		return -errno;
	int memory = descriptor(pidfd, KEPT_MEMORY);
	close(pidfd);
	if (memory < 0)
		return memory;
	/* Read, not mapped: whoever pretends to be a keeper could take mapped memory away. */
	struct keep *keep = malloc(sizeof *keep);
	ssize_t got = -1;
	/* Whose supervisor was killed a moment ago may not have noticed. */
	for (int turn = 0; keep != NULL && turn < NOTICE_TURNS; turn++) {
		got = pread(memory, keep, sizeof *keep, 0);
		if (got != (ssize_t)sizeof *keep || atomic_load(&keep->alone))
			break;
		usleep(TURN_US);
	}
	int64_t length = -EINVAL;
	if (got == (ssize_t)sizeof *keep && keep->magic == KEEP_MAGIC)
		length = atomic_load(&keep->alone) ? (int64_t)keep->note_size : -EBUSY;
	if (length > (int64_t)size || length > NOTE_SIZE)
		length = -EMSGSIZE;
	if (length > 0)
		memcpy(into, keep->note, (size_t)length);
	free(keep);
	close(memory);
	return length;
}

int kept_take_over(struct session *s, pid_t keeper)
{
	int pidfd = (int)syscall(SYS_pidfd_open, keeper, 0);
	if (pidfd < 0)
		return -errno;
	int failed = 0;
	s->listener = descriptor(pidfd, KEPT_LISTENER);
	if (s->listener < 0)
		failed = s->listener;
	else if ((failed = kept_give_listener(s)) == 0 && kill(keeper, HAND_OVER_SIGNAL) < 0)
		failed = -errno;
	if (!failed)
		failed = wait_until_ready(pidfd);
	close(pidfd);
	return failed;
}
