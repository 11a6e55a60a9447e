/* See proxy-process.h. */
#define _GNU_SOURCE
#include "proxy-process.h"
#include "../kernel/procfs.h"
#include "../kernel/wake-signal.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_SIZE = 64 * 1024, MOMENT_NS = 100 * 1000 * 1000, KERNEL_SIGSET = 8 };
enum { PATIENCE = 200, A_MOMENT = 10 }; /* two seconds, or as many wake-ups as the launcher sends in that time */

struct proxy_task {
	int64_t (*make)(void *argument);
	void *argument;
	pid_t sender;
	sigset_t wakes;
	volatile int64_t result;
};

/* Parent and child share thread-local storage, errno included. So the parent uses no C library wrapper while both run. */
static long raw_syscall(long nr, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

/* It must not outlive us, because it has all our descriptors. */
static int run(void *argument)
{
	struct proxy_task *task = argument;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != task->sender) {
		task->result = -EAGAIN;
		return 0;
	}
	task->result = own_fds_enter();
	if (task->result < 0)
		return 0;
	/* Without the wake-up signal nothing could interrupt it. */
	if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &task->wakes, NULL, KERNEL_SIGSET) < 0)
		task->result = -errno;
	else
		task->result = task->make(task->argument);
	return 0;
}

/* Our own wake-up signal interrupts it too. If it does not end then, because the program has stopped it, it is killed. */
static void wait_for(pid_t pid, int pidfd, const struct proxy_task *task)
{
	struct pollfd end = { pidfd, POLLIN, 0 };
	for (int waited = 0; waited <= PATIENCE;) {
		struct timespec moment = { 0, MOMENT_NS };
		long got = raw_syscall(SYS_ppoll, (long)&end, 1, (long)&moment, (long)&task->wakes, KERNEL_SIGSET);
		if (got > 0)
			break;
		waited += got == -EINTR ? 1 : got == 0 ? A_MOMENT : PATIENCE + 1;
		/* It is our child and not yet reaped, so the pid is still its own. */
		if (got == -EINTR || waited > PATIENCE)
			raw_syscall(SYS_kill, pid, waited > PATIENCE ? SIGKILL : WAKE_SIGNAL, 0, 0, 0);
	}
	while (raw_syscall(SYS_wait4, pid, 0, __WALL, 0, 0) == -EINTR)
		;
}

int64_t proxy_process_run(int64_t (*make)(void *argument), void *argument)
{
	char stack[STACK_SIZE] __attribute__((aligned(16)));
	struct proxy_task task = { .make = make, .argument = argument, .sender = getpid(), .result = -EINTR };
	sigset_t every, before;
	int pidfd = -1;
	sigfillset(&every);
	memset(&task.wakes, 0, sizeof task.wakes);
	sigfillset(&task.wakes);
	sigdelset(&task.wakes, WAKE_SIGNAL); /* its handler does nothing, and may run on either side */
	int failed = pthread_sigmask(SIG_SETMASK, &every, &before);
	if (failed)
		return -failed;
	int pid = clone(run, stack + sizeof stack, CLONE_VM | CLONE_FILES | CLONE_PIDFD, &task, &pidfd);
	int64_t result = pid < 0 ? -errno : 0;
	if (pid > 0) {
		wait_for(pid, pidfd, &task);
		close(pidfd);
		result = task.result;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL); /* cannot fail: this mask was in force a moment ago */
	return result;
}
