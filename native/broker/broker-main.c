/*
 * The broker's process. It stands between the launcher and the program: it enters the program's fence, starts the program
 * and adopts its orphans. Its second thread is the broker (requests.c). It has no more rights than the program. It is an
 * ancestor of every process that it acts for, because some kernels let only ancestors read memory (Yama).
 */
#define _GNU_SOURCE
#include "broker-main.h"
#include "../kernel/procfs.h"
#include "../kernel/thread-fs.h"
#include "../kernel/wake-signal.h"
#include "../launcher/fence.h"
#include "../launcher/masks.h"
#include "../launcher/process-tree.h"
#include "../launcher/program.h"
#include "../on-behalf/on-behalf.h"
#include "../tracee/proc-access.h"
#include "requests.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct broker_process {
	struct plan *plan;
	int launcher;
	int signals;
	pid_t program;
	struct namespaces spaces;
};

/* ------------------------------------------------------------------ ending */

static void send_signal(pid_t pid, void *number)
{
	kill(pid, *(int *)number);
}

void kill_below(pid_t pid)
{
	int stop = SIGSTOP, end = SIGKILL;
	for_each_descendant(pid, 0, send_signal, &stop);
	for_each_descendant(pid, 0, send_signal, &end);
}

void end_all_below(void)
{
	for (;;) {
		kill_below(getpid());
		pid_t pid;
		while ((pid = waitpid(-1, NULL, __WALL | WNOHANG)) > 0)
			;
		if (pid < 0 && errno == ECHILD)
			return;
		usleep(1000);
	}
}

/* ------------------------------------------------------------------ the program and its orphans */

/* If the launcher has died, watch() notices. */
static void send_message(const struct broker_process *b, enum broker_message kind, int value)
{
	const struct message message = { kind, value };
	while (send(b->launcher, &message, sizeof message, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

/* The fence may forbid us to signal its init, so the lifeline is closed, and init exits by itself. */
static void end_session_processes(struct broker_process *b)
{
	if (b->spaces.lifeline >= 0)
		close(b->spaces.lifeline);
	b->spaces.lifeline = -1;
	end_all_below();
}

/* The init of the pid namespace may exit when the program and all its descendants have ended. */
static void let_init_go(struct broker_process *b)
{
	if (b->program > 0 || b->spaces.lifeline < 0 || !only_child_is(b->spaces.init))
		return;
	close(b->spaces.lifeline);
	b->spaces.lifeline = -1;
}

/* Returns 0 when no child is left. */
static int reap(struct broker_process *b)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, __WALL | WNOHANG | WUNTRACED | WCONTINUED);
		if (pid == 0) {
			let_init_go(b);
			return 1;
		}
		if (pid < 0)
			return errno == ECHILD ? 0 : 1;
		if (pid != b->program)
			continue;
		send_message(b, BROKER_PROGRAM_STATUS, status);
		if (WIFEXITED(status) || WIFSIGNALED(status))
			b->program = -1;
	}
}

static void watch(struct broker_process *b)
{
	struct signalfd_siginfo got[16];
	while (reap(b)) {
		struct pollfd fds[2] = { { b->signals, POLLIN, 0 }, { b->launcher, POLLIN, 0 } };
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			abort();
		while (read(b->signals, got, sizeof got) > 0)
			;
		if (fds[1].revents) { /* the launcher never writes: it has died, and only we can end the session */
			end_session_processes(b);
			_exit(125);
		}
	}
}

/* ------------------------------------------------------------------ the broker */

static void on_wake(int number) { (void)number; }

static void *serve(void *argument)
{
	const struct broker_channels *channels = argument;
	on_behalf_remember_namespaces();
	thread_fs_unshare(); /* without it a proxy process makes calls that need their own umask or cwd */
	broker_serve(channels->broker, channels->calls, channels->cache);
	return NULL;
}

/*
 * Signals stay blocked, except the one that interrupts blocking-call threads. Paths of descriptors are relative to our own
 * /proc/self/fd, because /proc may belong to a pid namespace in which we do not exist.
 */
static int start_broker(const struct broker_channels *channels)
{
	struct sigaction wake = { .sa_handler = on_wake };
	pthread_t thread;
	if (sigaction(WAKE_SIGNAL, &wake, NULL) < 0 || fchdir(own_fds()) < 0)
		return -1;
	own_fd_paths_are_relative();
	errno = pthread_create(&thread, NULL, serve, (void *)(uintptr_t)channels);
	return errno ? -1 : 0;
}

static void fail(struct plan *plan)
{
	fence_fail(plan, STEP_START, 0);
}

_Noreturn void broker_main(struct plan *plan, const struct broker_channels *channels, int launcher, int go)
{
	struct broker_process b = { .plan = plan, .launcher = launcher };
	sigset_t every;
	sigfillset(&every);
	b.signals = signalfd(-1, &every, SFD_CLOEXEC | SFD_NONBLOCK);
	if (b.signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || prctl(PR_SET_NAME, "hermes-broker", 0, 0, 0) < 0 ||
	    procfs_hold() < 0)
		fail(plan);
	proc_access_protect(getppid(), plan->supervisor);
	enter_outer_namespaces(plan, &b.spaces);
	enter_fence(plan, &b.spaces, procfs_dir());
	b.program = fork_inside(&b.spaces);
	if (b.program == 0) {
		close(channels->broker);
		close(channels->calls);
		close(launcher);
		if (b.spaces.lifeline >= 0)
			close(b.spaces.lifeline);
		if (b.spaces.masks >= 0)
			close(b.spaces.masks);
		become_program(plan, go);
	}
	if (b.program < 0)
		fail(plan);
	drop_capabilities(plan);
	/*
	 * The program has the same user, but must not read our memory. And only the program may keep open what it was
	 * given.
	 */
	int32_t own[] = { channels->broker, channels->calls, launcher, b.signals, procfs_dir(), own_fds(), b.spaces.lifeline,
			  b.spaces.masks };
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || close_all_but(0, own, sizeof own / sizeof own[0]) < 0 ||
	    start_broker(channels) < 0) {
		int failed = errno;
		end_session_processes(&b);
		errno = failed;
		fail(plan);
	}
	send_message(&b, BROKER_INIT_PID, b.spaces.init);
	send_message(&b, BROKER_PROGRAM_PID, b.program);
	watch(&b);
	note_masks(plan, b.spaces.masks);
	_exit(0);
}
