/* Launching a session: starts the launcher, traces the program, and takes the listener of its filter. */
#define _GNU_SOURCE
#include "session.h"
#include "../doors/doors.h"
#include "../kernel/wake-signal.h"
#include "broker-client.h"
#include "start-process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP /* Linux 6.6; older headers lack it */
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif

static int share_plan(struct session *s, const uint8_t *bytes, size_t size)
{
	void *map;
	int fd = share_memory("hermes-plan", size, &map);
	if (fd < 0)
		return fd;
	memcpy(map, bytes, size);
	s->plan = map;
	s->plan_size = size;
	s->plan->supervisor = getpid();
	s->plan->worker = s->worker;
	s->plan->wake_signal = WAKE_SIGNAL;
	s->plan->listener = -1;
	return fd;
}

/* Descriptors that the launcher gets, in the order of its arguments. */
struct handed {
	int plan;
	int socket;
	int broker;
	int calls;
	int cache;
};

static pid_t start_launcher(struct session *s, const char *launcher, const struct handed *handed)
{
	const int given[] = { handed->plan, handed->socket, handed->broker, handed->calls, handed->cache };
	enum { GIVEN = sizeof given / sizeof given[0] };
	int inherited[GIVEN + 3 + MAX_KEPT_FDS];
	char numbers[GIVEN][16];
	char *argv[GIVEN + 2] = { "hermes-launch" };
	size_t count = 0;
	for (int i = 0; i < GIVEN; i++) {
		snprintf(numbers[i], sizeof numbers[i], "%d", given[i]);
		argv[i + 1] = numbers[i];
		inherited[count++] = given[i];
	}
	for (int i = 0; i < 3; i++)
		if (s->plan->stdio[i] >= 0)
			inherited[count++] = s->plan->stdio[i];
	for (uint32_t i = 0; i < s->plan->kept_count && i < MAX_KEPT_FDS; i++)
		inherited[count++] = s->plan->kept[i];
	return start_process(launcher, argv, inherited, count);
}

static int wait_until_started(struct session *s)
{
	struct message message;
	ssize_t size;
	do
		size = recv(s->socket, &message, sizeof message, 0);
	while (size < 0 && errno == EINTR);
	if (size != (ssize_t)sizeof message || message.kind != LAUNCHER_STARTED)
		return -ECHILD;
	session_send(s, SUPERVISOR_ACK, 0);
	s->program = message.value;
	return 0;
}

/*
 * With its filter in force the child cannot report by a system call. It stores the listener's number in the plan, and then
 * waits at execve, which every filter with a listener sends to us.
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
		return s->plan->failed_step ? 0 : failed; /* the program's exit reports the step that failed */
	s->listener = fd;
	/*
	 * Wake the supervisor on the caller's CPU: 2 to 5 times faster. An older kernel fails with EINVAL, which is fine.
	 */
	ioctl(fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	return 0;
}

/* A broker that has not answered for this long is taken to hang, and its requests fail. */
static void limit_patience(int broker)
{
	struct timeval patience = { .tv_sec = 30 };
	if (broker > 0 && (setsockopt(broker, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0 ||
			   setsockopt(broker, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) < 0))
		abort(); /* every socket knows both options */
}

static int make_pair(int *own, int *given)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	*own = ends[0];
	*given = ends[1];
	return 0;
}

/* session_close() closes our ends, also after a failure. */
static int make_channels(struct session *s, const uint8_t *plan, size_t size, struct handed *handed)
{
	const int bytes = BUFFER_SIZE;
	if ((handed->plan = share_plan(s, plan, size)) < 0)
		return handed->plan;
	if (s->verdict_cache == NULL && session_map_verdict_cache(s, verdict_cache_create()) < 0)
		return -errno;
	atomic_store(&s->verdict_cache->may_hand_over, !(s->doors & 1 << DOOR_TRACE));
	handed->cache = s->verdict_cache_fd;
	if (make_pair(&s->socket, &handed->socket) < 0 || make_pair(&s->broker, &handed->broker) < 0 ||
	    make_pair(&s->calls, &handed->calls) < 0)
		return -errno;
	limit_patience(s->broker);
	/* Room for the largest request. A request that does not fit fails. */
	if (setsockopt(s->broker, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) < 0)
		setsockopt(s->broker, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
	return 0;
}

static void close_handed(const struct handed *handed)
{
	const int all[] = { handed->plan, handed->socket, handed->broker, handed->calls };
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (all[i] >= 0)
			close(all[i]);
}

int session_launch(struct session *s, const uint8_t *plan, size_t size, const char *launcher)
{
	struct handed handed = { -1, -1, -1, -1, -1 };
	int failed = make_channels(s, plan, size, &handed);
	pid_t pid = failed ? failed : start_launcher(s, launcher, &handed);
	close_handed(&handed);
	if (pid < 0)
		return pid;
	s->launcher = pid;
	if ((failed = wait_until_started(s)) < 0)
		return failed;
	session_hold_view(s);
	if (s->doors & 1 << DOOR_TRACE && (failed = trace_seize(s, s->program)) < 0)
		return failed;
	session_send(s, SUPERVISOR_GO, 0);
	if (s->doors & 1 << DOOR_NOTIFY && (failed = take_listener(s)) < 0)
		return failed;
	return s->listener >= 0 ? broker_give_listener(s->broker, s->listener, s->on_behalf_mark) : 0;
}
