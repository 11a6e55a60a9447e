/* The frame of a supervisor by seccomp user notification. Who includes it says how one call is answered: `decide`. */
#ifndef REFERENCE_LISTEN_H
#define REFERENCE_LISTEN_H

#include "filter.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP /* Linux 6.6; older headers lack it */
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif

static void decide(int listener, const struct seccomp_notif *request);

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

/* Usage of all of them: NAME LENGTH COMMAND… */
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
		perror("listen");
		return 125;
	}
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	supervise(listener);
	int status = 0;
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}

#endif
