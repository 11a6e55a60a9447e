/*
 * The smallest honest supervisor by seccomp user notification: it reads the path of each openat, makes sure that
 * what it read was the caller's, and refuses a prefix. Usage: notify LENGTH COMMAND…
 */
#define _GNU_SOURCE
#include "filter.h"
#include "path.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP /* Linux 6.6; older headers lack it */
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif

static void decide(int listener, const struct seccomp_notif *request)
{
	struct seccomp_notif_resp response = { .id = request->id };
	uint64_t id = request->id;
	int passes = path_passes((pid_t)request->pid, request->data.args[1]);
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) < 0)
		return;
	if (passes)
		response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	else
		response.error = -EACCES;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void supervise(int listener)
{
	for (;;) {
		struct seccomp_notif request;
		memset(&request, 0, sizeof request);
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) == 0) {
			decide(listener, &request);
			continue;
		}
		struct pollfd fd = { listener, POLLIN, 0 };
		if (errno != EINTR && (errno != ENOENT || (poll(&fd, 1, 0) > 0 && fd.revents & POLLHUP)))
			return;
	}
}

/* The child's descriptor table is its own: it tells the listener's number, and we take a copy. */
static int take_listener(pid_t child, volatile int *told)
{
	int pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	while (*told == 0)
		usleep(50);
	int listener = (int)syscall(SYS_pidfd_getfd, pidfd, *told - 1, 0);
	*told = 0;
	return listener;
}

int main(int argc, char **argv)
{
	volatile int *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc < 3 || told == MAP_FAILED)
		return 125;
	pid_t child = fork();
	if (child == 0) {
		int fd = install_filter(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER, atoi(argv[1]));
		*told = fd + 1;
		while (*told != 0) /* exec closes it */
			usleep(50);
		if (fd >= 0)
			execvp(argv[2], argv + 2);
		_exit(127);
	}
	int listener = take_listener(child, told);
	if (listener < 0) {
		perror("notify");
		return 125;
	}
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	supervise(listener);
	int status = 0;
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
