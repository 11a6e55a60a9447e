/*
 * hermes-launch: the ancestor of every mediated program.
 *
 * It starts the broker's process, which starts the program as the plan says; adopts orphans, so that no process leaves the
 * session; reports to the supervisor how the program ended; and kills the whole session if the supervisor dies. It runs no
 * policy and never touches the program's input or output.
 *
 * Usage: hermes-launch PLAN_FD SOCKET_FD BROKER_FD CALLS_FD CACHE_FD
 */
#define _GNU_SOURCE
#include "fence.h"
#include "../broker/broker-main.h"
#include "../kernel/procfs.h"
#include "../protocol/verdict-cache.h"
#include "keeper.h"
#include "launcher.h"
#include "process-tree.h"
#include "program.h"
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STANDARD_SIGNALS = 32, MAX_REQUESTS = 32, REPEAT_MS = 10, STOP_CHECK_MS = 20 };

struct launcher {
	struct plan *plan;
	int socket;
	int signals;
	pid_t program;
	pid_t broker;                 /* the broker's process (broker/broker-main.c), 0 once it has ended */
	int from_broker;              /* its messages, -1 once it has closed them */
	pid_t init;                   /* of the program's pid namespace, 0 for none */
	int unacknowledged;           /* messages that the supervisor has not acknowledged */
	int stop_to_follow;           /* the program has stopped, and the supervisor is to stop too */
	int supervisor_stopped;       /* we stopped it */
	int ending;                   /* kill every process of the session */
	uint64_t run_count;           /* how often the stopped processes had run at the last check */
	int pinged;                   /* since then a LAUNCHER_PING was sent: acknowledged, no call waits for the supervisor */
	int held;                     /* the supervisor stops the session while it asks a person: that is no job control */
	struct {
		pid_t sender;
		struct timespec time;
	} received[STANDARD_SIGNALS]; /* signals that we got ourselves: their sender sent them to the whole group */
	int32_t requests[MAX_REQUESTS];
	int request_count;
};

/*
 * The supervisor's worker may be blocked in an ioctl or a wait that only a signal ends. A signal that arrives just before
 * it blocks is lost, so we repeat it until the worker acknowledges.
 */
static void nudge(struct launcher *l)
{
	syscall(SYS_tgkill, l->plan->supervisor, l->plan->worker, l->plan->wake_signal);
}

static void let_supervisor_run(struct launcher *l)
{
	l->stop_to_follow = 0;
	if (l->supervisor_stopped)
		kill(l->plan->supervisor, SIGCONT);
	l->supervisor_stopped = 0;
}

static void send_message(struct launcher *l, enum launcher_message kind, int value)
{
	struct message message = { kind, value };
	if (send(l->socket, &message, sizeof message, MSG_NOSIGNAL) == (ssize_t)sizeof message)
		l->unacknowledged++;
	nudge(l);
}

static void report(struct launcher *l, enum launcher_message kind, int value)
{
	let_supervisor_run(l);
	send_message(l, kind, value);
}

/* ------------------------------------------------------------------ job control */

struct survey {
	pid_t init;         /* of the pid namespace: it never stops */
	pid_t group;        /* check only this process group; 0: every process */
	int running;        /* how many are not stopped */
	uint64_t run_count; /* how often the stopped ones have been on a CPU */
};

static void survey_one(pid_t pid, void *context)
{
	struct survey *survey = context;
	int group, terminal;
	char state, text[128];
	unsigned long run_count;
	if (pid == survey->init)
		return;
	if (!read_stat(pid, &state, &group, &terminal) || (survey->group && group != survey->group))
		return;
	if (state == 'Z' || state == 'X')
		return;
	if (state != 'T' && state != 't')
		survey->running++;
	if (procfs_text(pid, "schedstat", text, sizeof text) > 0 && sscanf(text, "%*u %*u %lu", &run_count) == 1)
		survey->run_count += run_count;
}

/*
 * Stops the supervisor after the program has stopped, so that the shell sees its job stop. A stopped supervisor answers no
 * call, so every process that could continue the program must be stopped: with a terminal, which continues whole groups,
 * the program's group; without one, the whole session. A process that waits for an answer of the trace door looks stopped
 * too. So processes count as stopped only if they have not run between two checks, and the supervisor acknowledged in
 * between that no call waits for it.
 */
static void follow_stop(struct launcher *l)
{
	struct survey survey = { .init = l->init };
	char state;
	int group, terminal;
	if (!read_stat(l->program, &state, &group, &terminal))
		return;
	survey.group = terminal ? group : 0;
	for_each_descendant(l->broker, 0, survey_one, &survey);
	if (survey.running > 0 || survey.run_count != l->run_count) {
		l->run_count = survey.run_count;
		l->pinged = 0;
	} else if (!l->pinged) {
		l->pinged = 1;
		send_message(l, LAUNCHER_PING, 0);
	} else {
		l->stop_to_follow = 0;
		l->supervisor_stopped = 1;
		kill(l->plan->supervisor, SIGSTOP);
	}
}

static void program_stopped(struct launcher *l, int number)
{
	if (l->held)
		return;
	report(l, LAUNCHER_MAIN_STOP, number);
	l->run_count = 0;
	l->pinged = 0;
	l->stop_to_follow = (l->plan->flags & PLAN_FOLLOW_STOPS) != 0;
}

/* ------------------------------------------------------------------ signals to the supervisor */

static void note_signal(struct launcher *l, const struct signalfd_siginfo *info)
{
	if ((int)info->ssi_signo == FORWARD_SIGNAL && (pid_t)info->ssi_pid == l->plan->supervisor) {
		if (info->ssi_int == HOLD_REQUEST || info->ssi_int == RELEASE_REQUEST)
			l->held = info->ssi_int == HOLD_REQUEST;
		else if (l->request_count < MAX_REQUESTS)
			l->requests[l->request_count++] = info->ssi_int;
	} else if (info->ssi_signo < STANDARD_SIGNALS) {
		l->received[info->ssi_signo].sender = (pid_t)info->ssi_pid;
		clock_gettime(CLOCK_MONOTONIC, &l->received[info->ssi_signo].time);
	}
}

static int read_signals(struct launcher *l)
{
	struct signalfd_siginfo got[16];
	ssize_t size;
	while ((size = read(l->signals, got, sizeof got)) > 0)
		for (size_t i = 0; i < (size_t)size / sizeof got[0]; i++)
			note_signal(l, &got[i]);
	return size < 0 && errno != EAGAIN ? -1 : 0;
}

/* Whether the same sender has just sent it to us too. */
static int received_too(struct launcher *l, int number, pid_t sender)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (l->received[number].sender != sender || now.tv_sec - l->received[number].time.tv_sec > 1)
		return 0;
	l->received[number].sender = 0;
	return 1;
}

/*
 * An interactive shell runs its jobs in groups of their own. The shell that waits for us does not know that group: it
 * gives the terminal and its SIGCONT to our group, and we hand both on.
 */
static void hand_on_terminal(pid_t group)
{
	int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal < 0)
		return;
	if (tcgetpgrp(terminal) == getpgrp())
		tcsetpgrp(terminal, group); /* if it fails, the program gets an error when it reads */
	close(terminal);
}

/*
 * A signal that was sent to the supervisor alone is forwarded. One that was sent to our process group has reached the
 * program already. It must not get it twice, because many programs quit at once on the second.
 */
static void forward_signals(struct launcher *l)
{
	while (l->request_count > 0) {
		int32_t request = l->requests[--l->request_count];
		int number = request % 128;
		pid_t sender = request / 128;
		if (number < 1 || number >= STANDARD_SIGNALS || l->program <= 0)
			continue;
		pid_t group = getpgid(l->program);
		if (group == getpgrp()) {
			if (received_too(l, number, sender))
				continue;
			usleep(1000); /* the kernel may still be delivering it to the group */
			read_signals(l);
			if (received_too(l, number, sender))
				continue;
		} else if (number == SIGCONT && group > 0) {
			hand_on_terminal(group);
		}
		kill(l->program, number);
	}
}

/* ------------------------------------------------------------------ the wait */

static void program_changed(struct launcher *l, int status)
{
	if (WIFSTOPPED(status)) {
		program_stopped(l, WSTOPSIG(status));
	} else if (WIFCONTINUED(status)) {
		let_supervisor_run(l);
	} else {
		report(l, LAUNCHER_MAIN_EXIT, status);
		l->program = -1;
	}
}

static void read_broker_messages(struct launcher *l)
{
	struct message message;
	ssize_t size;
	while (l->from_broker >= 0 && (size = recv(l->from_broker, &message, sizeof message, MSG_DONTWAIT)) != 0) {
		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0 && errno == EAGAIN)
			return;
		if (size != (ssize_t)sizeof message)
			break;
		if (message.kind == BROKER_PROGRAM_PID) {
			l->program = message.value;
			report(l, LAUNCHER_STARTED, l->program);
		} else if (message.kind == BROKER_INIT_PID) {
			l->init = message.value;
		} else if (message.kind == BROKER_PROGRAM_STATUS) {
			program_changed(l, message.value);
		}
	}
	close(l->from_broker);
	l->from_broker = -1;
}

/*
 * The broker ends when no process is left. If it ends before, the session must end: the calls that it would have made fail
 * from now on, and it can no longer report how the program ended.
 */
static void broker_exited(struct launcher *l)
{
	read_broker_messages(l);
	l->broker = 0;
	end_all_below();
	if (l->program > 0)
		report(l, LAUNCHER_MAIN_EXIT, SIGKILL);
	l->program = -1;
}

/* Returns 0 when no child is left. */
static int reap(struct launcher *l)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, __WALL | WNOHANG | WUNTRACED | WCONTINUED);
		if (pid == 0)
			return 1;
		if (pid < 0)
			return errno == ECHILD ? 0 : 1;
		if (pid == l->program)
			program_changed(l, status);
		else if (pid == l->broker && (WIFEXITED(status) || WIFSIGNALED(status)))
			broker_exited(l);
	}
}

static void read_supervisor_messages(struct launcher *l, int go)
{
	struct message message;
	ssize_t size = recv(l->socket, &message, sizeof message, MSG_DONTWAIT);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size != (ssize_t)sizeof message) { /* the supervisor has died */
		end_all_below();
		_exit(0);
	}
	switch (message.kind) {
	case SUPERVISOR_GO:
		if (write(go, "g", 1) != 1)
			l->ending = 1;
		break;
	case SUPERVISOR_ACK:
		l->unacknowledged = 0;
		break;
	case SUPERVISOR_KILL:
		l->ending = 1;
		break;
	}
}

static void run(struct launcher *l, int go)
{
	int over = 0;
	for (;;) {
		struct pollfd fds[3] = { { l->socket, POLLIN, 0 }, { l->signals, POLLIN, 0 }, { l->from_broker, POLLIN, 0 } };
		if (over && l->unacknowledged == 0)
			return;
		int timeout = l->unacknowledged || l->ending ? REPEAT_MS : l->stop_to_follow ? STOP_CHECK_MS : -1;
		if (poll(fds, 3, timeout) < 0 && errno != EINTR)
			return;
		if (read_signals(l) < 0)
			return;
		forward_signals(l);
		if (fds[2].revents)
			read_broker_messages(l);
		if (!over && !reap(l)) {
			over = 1;
			report(l, LAUNCHER_OVER, 0);
		}
		if (fds[0].revents)
			read_supervisor_messages(l, go);
		if (l->ending && l->broker > 0) /* repeatedly: an orphan may have moved to another parent meanwhile */
			kill_below(l->broker);
		if (l->unacknowledged)
			nudge(l);
		else if (l->stop_to_follow)
			follow_stop(l);
	}
}

/* The verdict cache, which the broker shares with the supervisor. */
static struct verdict_cache *map_table(int fd)
{
	void *map = mmap(NULL, sizeof(struct verdict_cache), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

struct plan *map_plan(int fd)
{
	struct stat info;
	if (fstat(fd, &info) < 0 || (size_t)info.st_size < sizeof(struct plan))
		return NULL;
	struct plan *plan = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (plan == MAP_FAILED || plan->magic != PLAN_MAGIC || plan->size > (size_t)info.st_size)
		return NULL;
	return plan;
}

static void fail(struct plan *plan)
{
	fence_fail(plan, STEP_START, 0);
}

/* The broker's process starts the program, and stands behind the fence with it. */
static void start_broker_process(struct launcher *l, const struct broker_channels *channels, const int go[2])
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		fail(l->plan);
	l->broker = fork();
	if (l->broker == 0) {
		close(l->socket);
		close(l->signals);
		close(go[1]);
		close(ends[0]);
		broker_main(l->plan, channels, ends[1], go[0]);
	}
	if (l->broker < 0)
		fail(l->plan);
	l->from_broker = ends[0];
}

/* What we open must not get the numbers of the program's stdin, stdout and stderr. */
static int fill_stdio(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_PATH | O_CLOEXEC) != fd)
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	struct launcher l = { .from_broker = -1 };
	int go[2];
	sigset_t every;

	if (argc > 0 && strcmp(argv[0], "hermes-keep") == 0)
		return keeper_main(argc, argv);
	if (argc > 0 && strcmp(argv[0], "hermes-view") == 0)
		return view_main(argc, argv);
	if (argc != 6) {
		fputs("hermes-launch is started by hermes; it is not for use by hand\n", stderr);
		return 2;
	}
	l.socket = atoi(argv[2]);
	l.plan = map_plan(atoi(argv[1]));
	if (l.plan == NULL)
		return 125;
	const struct broker_channels channels = { atoi(argv[3]), atoi(argv[4]), map_table(atoi(argv[5])) };
	if (channels.cache == NULL || fill_stdio() < 0)
		fail(l.plan);
	close(atoi(argv[1]));

	/* Signals of the terminal go to the whole foreground group, us included. They are for the program. */
	sigfillset(&every);
	sigprocmask(SIG_SETMASK, &every, NULL);
	l.signals = signalfd(-1, &every, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l.signals < 0 || pipe2(go, O_CLOEXEC) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || procfs_dir() < 0)
		fail(l.plan);
	start_broker_process(&l, &channels, go);
	/*
	 * The program has the same user, but must not read our memory. And only the program may keep open what it was
	 * given: we keep no pipe open.
	 */
	int32_t own[] = { l.socket, l.signals, go[1], l.from_broker, procfs_dir() };
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || close_all_but(0, own, sizeof own / sizeof own[0]) < 0)
		end_all_below();
	run(&l, go[1]);
	return 0;
}
