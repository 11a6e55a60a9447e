/*
 * The process between the launcher and the program. It enters the program's fence, starts the program, adopts what is
 * orphaned, and is the broker (broker.c): its second thread resolves and acts for the program. It has no more rights than
 * the program has. It is an ancestor of all that it acts for, since some kernels let only ancestors read memory (Yama).
 */
#define _GNU_SOURCE
#include "household.h"
#include "broker.h"
#include "fence.h"
#include "proc.h"
#include "program.h"
#include "standin.h"
#include "tree.h"

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

struct household {
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
	visit_descendants(pid, 0, send_signal, &stop);
	visit_descendants(pid, 0, send_signal, &end);
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

/* If the launcher is gone, the loop below hears of it. */
static void tell(const struct household *h, enum broker_message kind, int value)
{
	const struct message message = { kind, value };
	while (send(h->launcher, &message, sizeof message, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

/* The fence may keep us from sending signals to its init, which goes by itself when its lifeline is cut. */
static void end_house(struct household *h)
{
	if (h->spaces.lifeline >= 0)
		close(h->spaces.lifeline);
	h->spaces.lifeline = -1;
	end_all_below();
}

/* The init of the pid namespace goes when the program and whatever it left are gone. */
static void let_init_go(struct household *h)
{
	if (h->program > 0 || h->spaces.lifeline < 0 || !only_child_is(h->spaces.init))
		return;
	close(h->spaces.lifeline);
	h->spaces.lifeline = -1;
}

/* Returns 0 when no child is left. */
static int reap(struct household *h)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, __WALL | WNOHANG | WUNTRACED | WCONTINUED);
		if (pid == 0) {
			let_init_go(h);
			return 1;
		}
		if (pid < 0)
			return errno == ECHILD ? 0 : 1;
		if (pid != h->program)
			continue;
		tell(h, TOLD_STATUS, status);
		if (WIFEXITED(status) || WIFSIGNALED(status))
			h->program = -1;
	}
}

static void watch(struct household *h)
{
	struct signalfd_siginfo got[16];
	while (reap(h)) {
		struct pollfd fds[2] = { { h->signals, POLLIN, 0 }, { h->launcher, POLLIN, 0 } };
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			abort();
		while (read(h->signals, got, sizeof got) > 0)
			;
		if (fds[1].revents) { /* it says nothing: it is gone, and nobody else ends the session */
			end_house(h);
			_exit(125);
		}
	}
}

/* ------------------------------------------------------------------ the broker */

static void on_wake(int number) { (void)number; }

static void *serve(void *argument)
{
	const struct house_doors *doors = argument;
	act_remember_namespaces();
	view_make_own(); /* without it a stand-in makes what needs a umask or a folder of its own */
	broker_serve(doors->broker, doors->calls, doors->table);
	return NULL;
}

/*
 * Signals stay blocked here, except those by which deputies are interrupted. The names of what is held are relative to
 * our own folder of descriptors: /proc may be one that does not know us.
 */
static int start_broker(const struct house_doors *doors)
{
	struct sigaction wake = { .sa_handler = on_wake };
	pthread_t thread;
	if (sigaction(WAKE_SIGNAL, &wake, NULL) < 0 || fchdir(own_fds()) < 0)
		return -1;
	own_fd_paths_are_relative();
	errno = pthread_create(&thread, NULL, serve, (void *)(uintptr_t)doors);
	return errno ? -1 : 0;
}

static void fail(struct plan *plan)
{
	fence_fail(plan, STEP_START, 0);
}

_Noreturn void keep_house(struct plan *plan, const struct house_doors *doors, int launcher, int go)
{
	struct household h = { .plan = plan, .launcher = launcher };
	sigset_t every;
	sigfillset(&every);
	h.signals = signalfd(-1, &every, SFD_CLOEXEC | SFD_NONBLOCK);
	if (h.signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || prctl(PR_SET_NAME, "hermes-broker", 0, 0, 0) < 0 ||
	    proc_hold() < 0)
		fail(plan);
	proc_are_ours(getppid(), plan->supervisor);
	enter_outer_namespaces(plan, &h.spaces);
	stand_behind_fence(plan, &h.spaces, proc_folder());
	h.program = fork_inside(&h.spaces);
	if (h.program == 0) {
		close(doors->broker);
		close(doors->calls);
		close(launcher);
		if (h.spaces.lifeline >= 0)
			close(h.spaces.lifeline);
		become_program(plan, go);
	}
	if (h.program < 0)
		fail(plan);
	drop_capabilities(plan);
	/* The program must not look into us, though it has the same user; and what it was given is its own. */
	int32_t own[] = { doors->broker, doors->calls, launcher, h.signals, proc_folder(), own_fds(), h.spaces.lifeline };
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || close_all_but(0, own, sizeof own / sizeof own[0]) < 0 ||
	    start_broker(doors) < 0) {
		int failed = errno;
		end_house(&h);
		errno = failed;
		fail(plan);
	}
	tell(&h, TOLD_INIT, h.spaces.init);
	tell(&h, TOLD_PROGRAM, h.program);
	watch(&h);
	_exit(0);
}
