/*
 * The fence's namespaces. The broker's process enters the user namespace and has its children start in the pid namespace.
 * It stays outside of the pid namespace, where it sees the supervisor. A small init is the first process of the pid
 * namespace: it adopts orphans, and when it exits, the kernel kills all other processes there.
 */
#define _GNU_SOURCE
#include "fence.h"
#include "masks.h"
#include "../kernel/procfs.h"
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	ssize_t put = write(fd, text, strlen(text));
	int failed = put < 0 ? errno : 0;
	close(fd);
	return failed;
}

/* ------------------------------------------------------------------ the user namespace */

/* Maps every id that is known here to itself: lines of "inside outside count". */
static int copy_map(pid_t pid, const char *name)
{
	char path[64], map[4096];
	size_t used = 0;
	unsigned int inside, outside, count;
	snprintf(path, sizeof path, "/proc/self/%s", name);
	FILE *own = fopen(path, "re");
	if (own == NULL)
		return errno;
	while (used < sizeof map - 40 && fscanf(own, "%u %u %u", &inside, &outside, &count) == 3)
		used += (size_t)snprintf(map + used, sizeof map - used, "%u %u %u\n", inside, inside, count);
	fclose(own);
	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return write_file(path, map);
}

/* Only a process outside, with the capabilities for it, can map more than one id: a child that was forked before. */
static pid_t start_mapper(int *go)
{
	int pipe_ends[2];
	pid_t target = getpid();
	char ready;
	if (pipe2(pipe_ends, O_CLOEXEC) < 0)
		return -1;
	pid_t mapper = fork();
	if (mapper == 0) {
		close(pipe_ends[1]);
		if (read(pipe_ends[0], &ready, 1) != 1)
			_exit(0);
		int failed = copy_map(target, "gid_map");
		_exit(failed ? failed : copy_map(target, "uid_map"));
	}
	close(pipe_ends[0]);
	*go = pipe_ends[1];
	return mapper;
}

static int map_all_ids(pid_t mapper, int go)
{
	int status, sent = write(go, "g", 1) == 1;
	close(go);
	if (waitpid(mapper, &status, 0) < 0 || !sent || !WIFEXITED(status))
		return ECHILD;
	return WEXITSTATUS(status);
}

static int map_own_id(uid_t uid, gid_t gid)
{
	char map[64];
	int failed = write_file("/proc/self/setgroups", "deny");
	if (failed && failed != ENOENT)
		return failed;
	snprintf(map, sizeof map, "%u %u 1\n", gid, gid);
	if ((failed = write_file("/proc/self/gid_map", map)))
		return failed;
	snprintf(map, sizeof map, "%u %u 1\n", uid, uid);
	return write_file("/proc/self/uid_map", map);
}

/* A process keeps its ids: root maps all ids that there are, other users map their own. Returns 0 or an errno. */
static int enter_user_namespace(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int go = -1;
	pid_t mapper = uid == 0 ? start_mapper(&go) : 0;
	if (mapper < 0)
		return errno;
	int failed = unshare(CLONE_NEWUSER) < 0 ? errno : 0;
	if (!mapper)
		return failed ? failed : map_own_id(uid, gid);
	if (!failed)
		return map_all_ids(mapper, go);
	close(go);
	waitpid(mapper, NULL, 0);
	return failed;
}

/* ------------------------------------------------------------------ probing */

static void try_pid_namespace(volatile int32_t *failed)
{
	if (unshare(CLONE_NEWPID) < 0) {
		*failed = errno;
		return;
	}
	pid_t pid = fork();
	if (pid == 0) {
		*failed = try_proc();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) < 0)
		*failed = errno;
}

/* A child tries first what cannot be undone. A namespace in which nothing may be mounted is of no use. */
static void try_namespaces(struct plan *plan)
{
	volatile int32_t *failed = plan->fence.errnos;
	pid_t pid = fork();
	if (pid == 0) {
		if (fence_wants(plan, FENCE_USER_NAMESPACE))
			failed[FENCE_USER_NAMESPACE] = enter_user_namespace();
		failed[FENCE_MOUNT_NAMESPACE] = unshare(CLONE_NEWNS) < 0 ? errno : try_mounts();
		if (failed[FENCE_MOUNT_NAMESPACE])
			failed[FENCE_PID_NAMESPACE] = failed[FENCE_MOUNT_NAMESPACE];
		else
			try_pid_namespace(&failed[FENCE_PID_NAMESPACE]);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) < 0)
		fence_fail(plan, STEP_START, 0);
}

/* ------------------------------------------------------------------ init */

/*
 * Reaps until no process is left and the lifeline is closed. It keeps no other descriptor, and its memory cannot be read.
 */
static _Noreturn void be_init(int lifeline)
{
	sigset_t every;
	sigfillset(&every);
	sigprocmask(SIG_SETMASK, &every, NULL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		_exit(125); /* the kernel then kills every process of the namespace */
	prctl(PR_SET_NAME, "init", 0, 0, 0); /* informative only */
	int signals = signalfd(-1, &every, SFD_CLOEXEC);
	int32_t own[] = { lifeline, signals };
	if (signals < 0 || close_all_but(0, own, 2) < 0 || chdir("/") < 0)
		_exit(125);
	for (int ending = 0;;) {
		struct pollfd fds[2] = { { signals, POLLIN, 0 }, { ending ? -1 : lifeline, POLLIN, 0 } };
		struct signalfd_siginfo got;
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			_exit(125);
		if (fds[0].revents && read(signals, &got, sizeof got) < 0)
			_exit(125);
		ending |= fds[1].revents != 0;
		pid_t pid;
		while ((pid = waitpid(-1, NULL, __WALL | WNOHANG)) > 0)
			;
		if (ending && pid < 0)
			_exit(0);
	}
}

/*
 * Forks a child of this process into the pid namespace `*space`; -1: into a new one, which `*space` then holds. A process
 * that has set the pid namespace of its children can start no threads, and the broker needs threads. So a helper sets it,
 * and forks a child whose parent is this process.
 */
static pid_t fork_into(int *space)
{
	int ends[2], status;
	pid_t child = -1;
	char seen = 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	pid_t helper = fork();
	if (helper == 0) {
		close(ends[0]);
		if ((*space < 0 ? unshare(CLONE_NEWPID) : setns(*space, CLONE_NEWPID)) == 0)
			child = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, 0);
		int failed = child < 0 ? errno : 0;
		if (child == 0) {
			close(ends[1]);
			return 0;
		}
		if (send(ends[1], &child, sizeof child, MSG_NOSIGNAL) < 0 || recv(ends[1], &seen, 1, 0) < 0)
			failed = EIO;
		_exit(failed);
	}
	close(ends[1]);
	if (helper > 0 && recv(ends[0], &child, sizeof child, 0) != (ssize_t)sizeof child)
		child = -1;
	if (child > 0 && *space < 0 && (*space = procfs_open(helper, "ns/pid_for_children", O_RDONLY)) < 0)
		child = -1;
	int failed = errno;
	close(ends[0]);
	if (helper > 0 && waitpid(helper, &status, 0) == helper && WIFEXITED(status) && WEXITSTATUS(status))
		failed = WEXITSTATUS(status);
	errno = failed;
	return child;
}

pid_t fork_inside(struct namespaces *made)
{
	return made->init == 0 ? fork() : fork_into(&made->pids);
}

static void start_init(struct plan *plan, struct namespaces *made)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		fence_fail(plan, STEP_FENCE, FENCE_PID_NAMESPACE);
	made->init = fork_into(&made->pids);
	if (made->init == 0) {
		close(ends[1]);
		be_init(ends[0]);
	}
	close(ends[0]);
	if (made->init < 0)
		fence_fail(plan, STEP_FENCE, FENCE_PID_NAMESPACE);
	made->lifeline = ends[1];
}

/* ------------------------------------------------------------------ entering */

void enter_outer_namespaces(struct plan *plan, struct namespaces *made)
{
	const uint32_t any = 1u << FENCE_USER_NAMESPACE | 1u << FENCE_PID_NAMESPACE | 1u << FENCE_MOUNT_NAMESPACE;
	*made = (struct namespaces){ 0, -1, -1, -1 };
	if (!(plan->fence.wanted & any))
		return;
	try_namespaces(plan);
	for (int which = FENCE_USER_NAMESPACE; which <= FENCE_MOUNT_NAMESPACE; which++) {
		if (!fence_wants(plan, which))
			continue;
		int failed = plan->fence.errnos[which];
		if (!failed && which == FENCE_USER_NAMESPACE)
			failed = enter_user_namespace();
		fence_settle(plan, which, failed);
	}
	if (fence_has(plan, FENCE_PID_NAMESPACE))
		start_init(plan, made);
}

static int raise_loopback(void)
{
	struct ifreq request = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	int failed = ioctl(fd, SIOCGIFFLAGS, &request) < 0 ? errno : 0;
	request.ifr_flags |= IFF_UP | IFF_RUNNING;
	if (!failed && ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		failed = errno;
	close(fd);
	return failed;
}

/* A /proc shows the pid namespace of the process that mounts it, and we are not in that of our children. */
static void mount_inside(struct plan *plan, struct namespaces *made)
{
	int status;
	pid_t pid = fork_inside(made);
	if (pid == 0) {
		arrange_mounts(plan);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		fence_fail(plan, STEP_START, 0);
	if (status != 0) /* the plan says why */
		_exit(125);
}

void enter_inner_namespaces(struct plan *plan, struct namespaces *made)
{
	static const struct {
		enum protection which;
		int flag;
	} kinds[] = {
		{ FENCE_IPC_NAMESPACE, CLONE_NEWIPC },
		{ FENCE_NET_NAMESPACE, CLONE_NEWNET },
		{ FENCE_UTS_NAMESPACE, CLONE_NEWUTS },
		{ FENCE_CGROUP_NAMESPACE, CLONE_NEWCGROUP },
	};
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (!fence_wants(plan, kinds[i].which))
			continue;
		int failed = unshare(kinds[i].flag) < 0 ? errno : 0;
		if (!failed && kinds[i].which == FENCE_NET_NAMESPACE)
			failed = raise_loopback();
		fence_settle(plan, kinds[i].which, failed);
	}
	if (fence_wants(plan, FENCE_NO_NESTING))
		fence_settle(plan, FENCE_NO_NESTING,
			     fence_has(plan, FENCE_USER_NAMESPACE) ? write_file("/proc/sys/user/max_user_namespaces", "0")
								   : EPERM);
	if (fence_has(plan, FENCE_MOUNT_NAMESPACE)) {
		if (unshare(CLONE_NEWNS) < 0)
			fence_fail(plan, STEP_FENCE, FENCE_MOUNT_NAMESPACE);
		mount_inside(plan, made);
		made->masks = arrange_masks(plan);
	}
}
