/* From a fork of the broker's process to the program, step by step. */
#define _GNU_SOURCE
#include "program.h"
#include "../kernel/notification.h"
#include "fence.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void fail(struct plan *plan, enum launch_step step)
{
	fence_fail(plan, step, 0);
}

static char **strings(struct plan *plan, uint32_t array, uint32_t count)
{
	const uint32_t *offsets = (const uint32_t *)((char *)plan + array);
	char **list = calloc((size_t)count + 2, sizeof *list);
	if (list == NULL)
		fail(plan, STEP_START);
	for (uint32_t i = 0; i < count; i++)
		list[i] = (char *)plan + offsets[i];
	return list;
}

static void set_limits(struct plan *plan)
{
	for (uint32_t i = 0; i < plan->limit_count && i < MAX_LIMITS; i++) {
		struct rlimit limit = { plan->limits[i].soft, plan->limits[i].hard };
		if (setrlimit((int)plan->limits[i].resource, &limit) < 0)
			fail(plan, STEP_LIMIT);
	}
}

/* Two rounds, so that a descriptor moved to 0..2 cannot overwrite one that is still to be moved. */
static void set_stdio(struct plan *plan)
{
	int parked[3];
	for (int i = 0; i < 3; i++) {
		parked[i] = plan->stdio[i] < 0 ? -1 : fcntl(plan->stdio[i], F_DUPFD, 3);
		if (parked[i] < 0 && plan->stdio[i] >= 0)
			fail(plan, STEP_STDIO);
	}
	for (int i = 0; i < 3; i++) {
		if (parked[i] < 0) {
			close(i);
			continue;
		}
		if (dup2(parked[i], i) < 0)
			fail(plan, STEP_STDIO);
		close(parked[i]);
	}
}

/* Node makes descriptors blocking that it shares with a process it starts: restore them. */
static void set_blocking(struct plan *plan)
{
	for (int i = 0; i < 3; i++) {
		int flags = fcntl(i, F_GETFL), blocking = (flags & O_NONBLOCK) == 0;
		if (flags < 0 || plan->blocking[i] < 0 || plan->blocking[i] == blocking)
			continue;
		if (fcntl(i, F_SETFL, flags ^ O_NONBLOCK) < 0)
			fail(plan, STEP_STDIO);
	}
}

/* Node ignores SIGPIPE and handles other signals. The program must get the dispositions that we were started with. */
static void reset_signals(struct plan *plan)
{
	for (int number = 1; number < NSIG; number++) {
		int ignored = number <= 64 && (plan->ignored >> (number - 1) & 1);
		struct sigaction plain = { .sa_handler = ignored ? SIG_IGN : SIG_DFL };
		if (number == SIGKILL || number == SIGSTOP || (number >= 32 && number < SIGRTMIN))
			continue;
		if (sigaction(number, &plain, NULL) < 0 && errno != EINVAL)
			fail(plan, STEP_SIGNALS);
	}
	sigset_t mask;
	sigemptyset(&mask);
	for (int number = 1; number <= 64; number++)
		if (plan->blocked >> (number - 1) & 1)
			sigaddset(&mask, number);
	if (sigprocmask(SIG_SETMASK, &mask, NULL) < 0)
		fail(plan, STEP_SIGNALS);
}

static int by_number(const void *a, const void *b)
{
	return *(const int32_t *)a - *(const int32_t *)b;
}

int close_all_but(unsigned int first, int32_t *kept, uint32_t count)
{
	qsort(kept, count, sizeof *kept, by_number);
	for (uint32_t i = 0; i < count; i++) {
		unsigned int fd = (unsigned int)kept[i];
		if (kept[i] < 0 || fd < first)
			continue;
		if (fd > first && syscall(SYS_close_range, first, fd - 1, 0) < 0)
			return -1;
		first = fd + 1;
	}
	return (int)syscall(SYS_close_range, first, ~0U, 0);
}

static void close_fds(struct plan *plan)
{
	if (plan->kept_count > MAX_KEPT_FDS) {
		errno = E2BIG;
		fail(plan, STEP_CLOSE_FDS);
	}
	for (uint32_t i = 0; i < plan->kept_count; i++)
		if (fcntl(plan->kept[i], F_SETFD, 0) < 0) /* keep it open across exec */
			fail(plan, STEP_CLOSE_FDS);
	if (close_all_but(3, plan->kept, plan->kept_count) < 0)
		fail(plan, STEP_CLOSE_FDS);
}

static void install_filter(struct plan *plan)
{
	struct sock_fprog program = {
		.len = (unsigned short)plan->filter_count,
		.filter = (struct sock_filter *)((char *)plan + plan->filter),
	};
	unsigned long flags = 0;
	if (plan->filter_count == 0)
		return;
	if (plan->flags & PLAN_LISTENER)
		flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	if (fd < 0 && errno == EINVAL && flags) /* before Linux 5.19 */
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (fd < 0)
		fail(plan, STEP_FILTER);
	/* From here on any system call may wait for the supervisor, which finds the listener by this number. */
	if (plan->flags & PLAN_LISTENER)
		plan->listener = (int32_t)fd;
}

/* Another mount may cover the working directory: enter the directory that has its name now. */
static void enter_cgroups_and_namespaces(struct plan *plan, struct namespaces *made)
{
	char *directory = getcwd(NULL, 0);
	join_cgroups(plan);
	enter_inner_namespaces(plan, made);
	if (!fence_has(plan, FENCE_MOUNT_NAMESPACE))
		return free(directory);
	if (directory == NULL || chdir(directory) < 0)
		fail(plan, STEP_FENCED_DIRECTORY);
	free(directory);
}

void enter_fence(struct plan *plan, struct namespaces *made, int proc)
{
	if (plan->directory && chdir((char *)plan + plan->directory) < 0)
		fail(plan, STEP_DIRECTORY);
	set_stdio(plan);
	enter_cgroups_and_namespaces(plan, made);
	if ((plan->flags & PLAN_NO_NEW_PRIVS) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		fail(plan, STEP_PRIVILEGES);
	join_own_keyring(plan);
	restrict_by_landlock(plan, proc);
}

void become_program(struct plan *plan, int go)
{
	char **argv = strings(plan, plan->argv, plan->argc);
	char **envp = strings(plan, plan->envp, plan->envc);
	const char *file = (char *)plan + plan->file;
	char ready;

	if (read(go, &ready, 1) != 1)
		_exit(125);
	if ((plan->flags & PLAN_NEW_SESSION) && setsid() < 0)
		fail(plan, STEP_SESSION);
	if ((plan->flags & PLAN_NEW_GROUP) && setpgid(0, 0) < 0)
		fail(plan, STEP_SESSION);
	/*
	 * One Landlock domain below the broker's, with the same rules, so that the program can neither trace nor signal
	 * the broker.
	 */
	restrict_by_landlock(plan, -1);
	drop_capabilities(plan);
	if ((plan->flags & PLAN_NEW_SESSION) && isatty(0))
		ioctl(0, TIOCSCTTY, 0); /* a new session may have a controlling terminal of its own */
	set_blocking(plan);
	set_limits(plan);
	if (plan->flags & PLAN_CLOSE_FDS)
		close_fds(plan);
	reset_signals(plan);
	if ((plan->flags & PLAN_TRAP_TSC) && prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) < 0)
		fail(plan, STEP_TRAP_TSC);
	install_filter(plan);
	execve(file, argv, envp);
	if (errno == ENOEXEC) { /* a script without #!: run it by /bin/sh, as execvp and every shell do */
		char **script = calloc((size_t)plan->argc + 2, sizeof *script);
		if (script != NULL) {
			script[0] = "/bin/sh";
			script[1] = (char *)file;
			for (uint32_t i = 1; i < plan->argc; i++)
				script[i + 1] = argv[i];
			execve("/bin/sh", script, envp);
		}
		errno = ENOEXEC;
	}
	fail(plan, STEP_EXEC);
}
