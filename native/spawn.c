/* Starting a session: the launcher, its program, the tracing of it, and the listener of its filter. */
#define _GNU_SOURCE
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP /* Linux 6.6; older headers lack it */
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif

static int share_plan(struct session *s, const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("hermes-plan", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)size) < 0) {
		int failed = -errno;
		close(fd);
		return failed;
	}
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		int failed = -errno;
		close(fd);
		return failed;
	}
	memcpy(map, bytes, size);
	s->plan = map;
	s->plan_size = size;
	s->plan->supervisor = getpid();
	s->plan->worker = s->worker;
	s->plan->wake_signal = WAKE_SIGNAL;
	s->plan->listener = -1;
	return fd;
}

/*
 * vfork, because copying Node's page tables costs a millisecond. All signals are blocked in the child, so no
 * handler of ours can run on the memory it shares with us. Node marks every descriptor close-on-exec: undo
 * that for those that the program is given.
 */
static pid_t start_launcher(struct session *s, const char *launcher, int plan_fd, int socket_fd)
{
	char plan_text[16], socket_text[16];
	char *argv[] = { "hermes-launch", plan_text, socket_text, NULL };
	char *envp[] = { NULL };
	sigset_t every, before;
	snprintf(plan_text, sizeof plan_text, "%d", plan_fd);
	snprintf(socket_text, sizeof socket_text, "%d", socket_fd);
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	volatile int failed = 0;
	pid_t pid = vfork();
	if (pid == 0) {
		fcntl(plan_fd, F_SETFD, 0);
		fcntl(socket_fd, F_SETFD, 0);
		for (int i = 0; i < 3; i++)
			if (s->plan->stdio[i] >= 0)
				fcntl(s->plan->stdio[i], F_SETFD, 0);
		for (uint32_t i = 0; i < s->plan->kept_count && i < MAX_KEPT_FDS; i++)
			fcntl(s->plan->kept[i], F_SETFD, 0);
		execve(launcher, argv, envp);
		failed = errno;
		_exit(125);
	}
	int forked = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return -forked;
	if (failed) {
		waitpid(pid, NULL, 0);
		return -failed;
	}
	return pid;
}

static int hear_started(struct session *s)
{
	struct message message;
	ssize_t size;
	do
		size = recv(s->socket, &message, sizeof message, 0);
	while (size < 0 && errno == EINTR);
	if (size != (ssize_t)sizeof message || message.kind != SAY_STARTED)
		return -ECHILD;
	session_tell(s, TELL_HEARD, 0);
	s->program = message.value;
	return 0;
}

/*
 * Once its filter is in force the child cannot tell us anything by a system call: it stores the listener's
 * number in the plan, and is then held at execve, which every filter with a listener sends to us.
 */
static int take_listener(struct session *s)
{
	int pidfd = (int)syscall(SYS_pidfd_open, s->program, 0);
	if (pidfd < 0)
		return -errno;
	while (s->plan->listener < 0 && !s->plan->failed_step) {
		struct pollfd gone = { pidfd, POLLIN, 0 };
		struct timespec moment = { 0, 20 * 1000 };
		if (ppoll(&gone, 1, &moment, NULL) > 0 && s->plan->listener < 0)
			break;
	}
	int fd = -1;
	if (s->plan->listener >= 0)
		fd = (int)syscall(SYS_pidfd_getfd, pidfd, s->plan->listener, 0);
	int failed = fd < 0 ? -errno : 0;
	close(pidfd);
	if (fd < 0)
		return s->plan->failed_step ? 0 : failed; /* a step that failed is told by the program's exit */
	s->listener = fd;
	/* Wake the supervisor on the caller's CPU: 2 to 5 times faster. An older kernel says EINVAL: then not. */
	ioctl(fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	return 0;
}

int session_launch(struct session *s, const uint8_t *plan, size_t size, const char *launcher)
{
	int pair[2], failed;
	int plan_fd = share_plan(s, plan, size);
	if (plan_fd < 0)
		return plan_fd;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		failed = -errno;
		close(plan_fd);
		return failed;
	}
	pid_t pid = start_launcher(s, launcher, plan_fd, pair[1]);
	close(plan_fd);
	close(pair[1]);
	s->socket = pair[0];
	if (pid < 0)
		return pid;
	s->launcher = pid;
	if ((failed = hear_started(s)) < 0)
		return failed;
	if (s->doors & 1 << DOOR_TRACE && (failed = trace_seize(s, s->program)) < 0)
		return failed;
	session_tell(s, TELL_GO, 0);
	if (s->doors & 1 << DOOR_NOTIFY)
		return take_listener(s);
	return 0;
}
