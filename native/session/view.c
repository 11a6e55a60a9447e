/* What the program sees of the files can change while it runs: hermes-launch does it, in the program's namespaces. */
#define _GNU_SOURCE
#include "session.h"
#include "../kernel/procfs.h"
#include "start-process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void session_hold_view(struct session *s)
{
	uint32_t in_force = s->plan->fence.in_force;
	s->view_mounts = s->view_user = -1;
	if (!(in_force >> FENCE_MOUNT_NAMESPACE & 1))
		return;
	s->view_mounts = procfs_open(s->program, "ns/mnt", O_RDONLY | O_CLOEXEC);
	if (in_force >> FENCE_USER_NAMESPACE & 1)
		s->view_user = procfs_open(s->program, "ns/user", O_RDONLY | O_CLOEXEC);
}

void session_close_view(struct session *s)
{
	if (s->view_mounts > 0)
		close(s->view_mounts);
	if (s->view_user > 0)
		close(s->view_user);
}

static int run_change(struct session *s, int plan, const char *launcher)
{
	const int given[] = { plan, s->view_mounts, s->view_user };
	const size_t count = s->view_user >= 0 ? 3 : 2;
	char numbers[3][16];
	char *argv[5] = { "hermes-view" };
	int status;
	for (int i = 0; i < 3; i++) {
		snprintf(numbers[i], sizeof numbers[i], "%d", given[i]);
		argv[i + 1] = numbers[i];
	}
	pid_t pid = start_process(launcher, argv, given, count);
	if (pid < 0)
		return pid;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ECHILD;
}

/* start_process() leaves descriptors that it hands over open across exec: nothing else may inherit these. */
static void keep_to_ourselves(const struct session *s)
{
	fcntl(s->view_mounts, F_SETFD, FD_CLOEXEC);
	if (s->view_user >= 0)
		fcntl(s->view_user, F_SETFD, FD_CLOEXEC);
}

int session_change_view(struct session *s, const uint8_t *orders, size_t size, const char *launcher, uint8_t *seen)
{
	void *map;
	if (s->view_mounts <= 0 || size < sizeof(struct plan))
		return -ESRCH;
	int fd = share_memory("hermes-view", size, &map);
	if (fd < 0)
		return fd;
	memcpy(map, orders, size);
	int failed = run_change(s, fd, launcher);
	keep_to_ourselves(s);
	const struct plan *plan = map;
	const struct plan_fence *fence = &plan->fence;
	if (failed == -ECHILD && plan->failed_errno)
		failed = -plan->failed_errno;
	if (!failed && fence->masks_seen <= size && fence->mask_count <= size - fence->masks_seen)
		memcpy(seen, (const uint8_t *)map + fence->masks_seen, fence->mask_count);
	close(fd);
	munmap(map, size);
	return failed;
}
