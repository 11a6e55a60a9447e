/* See standin.h. */
#define _GNU_SOURCE
#include "standin.h"
#include "procfs.h"
#include "session.h"

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

struct errand {
	int64_t (*make)(void *argument);
	void *argument;
	pid_t sender;
	sigset_t wakes;
	volatile int64_t result;
};

/* Parent and child share one thread-local storage, errno included: the parent makes bare system calls while both run. */
static long bare(long nr, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

/* It must not outlive us: it holds every descriptor that we have. */
static int run(void *argument)
{
	struct errand *errand = argument;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != errand->sender) {
		errand->result = -EAGAIN;
		return 0;
	}
	errand->result = own_fds_enter();
	if (errand->result < 0)
		return 0;
	if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &errand->wakes, NULL, KERNEL_SIGSET) < 0) /* or nothing could end a wait */
		errand->result = -errno;
	else
		errand->result = errand->make(errand->argument);
	return 0;
}

/* Our own wake-up ends its wait too. One that does not end then, because the program stopped it, is killed. */
static void wait_for(pid_t pid, int pidfd, const struct errand *errand)
{
	struct pollfd end = { pidfd, POLLIN, 0 };
	for (int waited = 0; waited <= PATIENCE;) {
		struct timespec moment = { 0, MOMENT_NS };
		long got = bare(SYS_ppoll, (long)&end, 1, (long)&moment, (long)&errand->wakes, KERNEL_SIGSET);
		if (got > 0)
			break;
		waited += got == -EINTR ? 1 : got == 0 ? A_MOMENT : PATIENCE + 1;
		/* It is our child and has not been waited for, so the number is still its own. */
		if (got == -EINTR || waited > PATIENCE)
			bare(SYS_kill, pid, waited > PATIENCE ? SIGKILL : WAKE_SIGNAL, 0, 0, 0);
	}
	while (bare(SYS_wait4, pid, 0, __WALL, 0, 0) == -EINTR)
		;
}

int64_t standin_make(int64_t (*make)(void *argument), void *argument)
{
	char stack[STACK_SIZE] __attribute__((aligned(16)));
	struct errand errand = { .make = make, .argument = argument, .sender = getpid(), .result = -EINTR };
	sigset_t every, before;
	int pidfd = -1;
	sigfillset(&every);
	memset(&errand.wakes, 0, sizeof errand.wakes);
	sigfillset(&errand.wakes);
	sigdelset(&errand.wakes, WAKE_SIGNAL); /* its handler does nothing: it may run on either side */
	int failed = pthread_sigmask(SIG_SETMASK, &every, &before);
	if (failed)
		return -failed;
	int pid = clone(run, stack + sizeof stack, CLONE_VM | CLONE_FILES | CLONE_PIDFD, &errand, &pidfd);
	int64_t result = pid < 0 ? -errno : 0;
	if (pid > 0) {
		wait_for(pid, pidfd, &errand);
		close(pidfd);
		result = errand.result;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL); /* cannot fail: it was read a moment ago */
	return result;
}

/* ------------------------------------------------------------------ a view of one's own */

static __thread int own_view;

int view_make_own(void)
{
	if (!own_view)
		own_view = unshare(CLONE_FS) == 0;
	return own_view;
}

int view_is_own(void)
{
	return own_view;
}
