/*
 * hermes-launch: the parent of every mediated program.
 *
 * It starts the program as the plan says, adopts whatever is orphaned (nothing leaves the session), tells the
 * supervisor how the program ended, and, should the supervisor vanish, ends the whole session. It runs no
 * policy and never touches the program's input or output.
 *
 * Usage: hermes-launch PLAN_FD SOCKET_FD BROKER_FD CALLS_FD TABLE_FD
 */
#define _GNU_SOURCE
#include "fence.h"
#include "household.h"
#include "keep.h"
#include "procfs.h"
#include "program.h"
#include "settled.h"
#include "tree.h"

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

enum { STANDARD_SIGNALS = 32, MAX_REQUESTS = 32, STOP_CHECK_MS = 20 };

struct warden {
	struct plan *plan;
	int socket;
	int signals;
	pid_t program;
	pid_t house;            /* the broker's process (household.c), 0 once it is gone */
	int from_house;         /* what it tells, -1 for nothing */
	pid_t init;             /* of the program's pid namespace, 0 for none */
	int unheard;            /* messages that the supervisor has not acknowledged */
	int stop_to_follow;     /* the program has stopped and the supervisor has not yet */
	int supervisor_stopped; /* by us */
	int ending;             /* every process of the session is to be killed */
	uint64_t turns;         /* how often the stopped processes have run, when we last looked */
	int asked;              /* since then the supervisor has said that nobody waits for it */
	int held;               /* the supervisor stops the session while it asks a person: that is not job control */
	struct {
		pid_t sender;
		struct timespec time;
	} met[STANDARD_SIGNALS]; /* signals that we got ourselves: they went to the whole group */
	int32_t requests[MAX_REQUESTS];
	int request_count;
};

/*
 * The supervisor's worker may be blocked in an ioctl or a wait that only a signal ends. A signal that arrives
 * just before it blocks is lost, so we go on until it says that it heard us.
 */
static void nudge(struct warden *w)
{
	syscall(SYS_tgkill, w->plan->supervisor, w->plan->worker, w->plan->wake_signal);
}

static void let_supervisor_run(struct warden *w)
{
	w->stop_to_follow = 0;
	if (w->supervisor_stopped)
		kill(w->plan->supervisor, SIGCONT);
	w->supervisor_stopped = 0;
}

static void tell(struct warden *w, enum launcher_message kind, int value)
{
	struct message message = { kind, value };
	if (send(w->socket, &message, sizeof message, MSG_NOSIGNAL) == (ssize_t)sizeof message)
		w->unheard++;
	nudge(w);
}

static void say(struct warden *w, enum launcher_message kind, int value)
{
	let_supervisor_run(w);
	tell(w, kind, value);
}

/* ------------------------------------------------------------------ job control */

struct survey {
	pid_t init;     /* of the pid namespace: it never stops */
	pid_t group;    /* only this process group counts; 0: every process */
	int running;    /* how many are not stopped */
	uint64_t turns; /* how often those that are have been on a CPU */
};

static void survey_one(pid_t pid, void *context)
{
	struct survey *survey = context;
	int group, terminal;
	char state, text[128];
	unsigned long turns;
	if (pid == survey->init)
		return;
	if (!read_stat(pid, &state, &group, &terminal) || (survey->group && group != survey->group))
		return;
	if (state == 'Z' || state == 'X')
		return;
	if (state != 'T' && state != 't')
		survey->running++;
	if (proc_text(pid, "schedstat", text, sizeof text) > 0 && sscanf(text, "%*u %*u %lu", &turns) == 1)
		survey->turns += turns;
}

/*
 * The program has stopped, and whoever waits for the supervisor should see that. But a stopped supervisor answers
 * nobody, so nobody who could continue the program may be left running: with a terminal, which continues whole
 * groups, that is the program's group; without one, the whole session. A process that waits for an answer of the
 * trace door looks stopped too: only those that have not run between two looks are, if the supervisor, asked
 * between the two, had nobody to answer.
 */
static void follow_stop(struct warden *w)
{
	struct survey survey = { .init = w->init };
	char state;
	int group, terminal;
	if (!read_stat(w->program, &state, &group, &terminal))
		return;
	survey.group = terminal ? group : 0;
	visit_descendants(w->house, 0, survey_one, &survey);
	if (survey.running > 0 || survey.turns != w->turns) {
		w->turns = survey.turns;
		w->asked = 0;
	} else if (!w->asked) {
		w->asked = 1;
		tell(w, SAY_NOTHING, 0);
	} else {
		w->stop_to_follow = 0;
		w->supervisor_stopped = 1;
		kill(w->plan->supervisor, SIGSTOP);
	}
}

static void program_stopped(struct warden *w, int number)
{
	if (w->held)
		return;
	say(w, SAY_MAIN_STOP, number);
	w->turns = 0;
	w->asked = 0;
	w->stop_to_follow = (w->plan->flags & PLAN_FOLLOW_STOPS) != 0;
}

/* ------------------------------------------------------------------ signals to the supervisor */

static void note_signal(struct warden *w, const struct signalfd_siginfo *info)
{
	if ((int)info->ssi_signo == FORWARD_SIGNAL && (pid_t)info->ssi_pid == w->plan->supervisor) {
		if (info->ssi_int == HOLD_REQUEST || info->ssi_int == RELEASE_REQUEST)
			w->held = info->ssi_int == HOLD_REQUEST;
		else if (w->request_count < MAX_REQUESTS)
			w->requests[w->request_count++] = info->ssi_int;
	} else if (info->ssi_signo < STANDARD_SIGNALS) {
		w->met[info->ssi_signo].sender = (pid_t)info->ssi_pid;
		clock_gettime(CLOCK_MONOTONIC, &w->met[info->ssi_signo].time);
	}
}

static int read_signals(struct warden *w)
{
	struct signalfd_siginfo got[16];
	ssize_t size;
	while ((size = read(w->signals, got, sizeof got)) > 0)
		for (size_t i = 0; i < (size_t)size / sizeof got[0]; i++)
			note_signal(w, &got[i]);
	return size < 0 && errno != EAGAIN ? -1 : 0;
}

/* Did the same sender send it to us too, just now? */
static int met_too(struct warden *w, int number, pid_t sender)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (w->met[number].sender != sender || now.tv_sec - w->met[number].time.tv_sec > 1)
		return 0;
	w->met[number].sender = 0;
	return 1;
}

/*
 * An interactive shell makes a group of its own. The shell that waits for us knows nothing of it: it gives the
 * terminal to our group, from where we hand it on, and without us its SIGCONT would not arrive either.
 */
static void hand_on_terminal(pid_t group)
{
	int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal < 0)
		return;
	if (tcgetpgrp(terminal) == getpgrp())
		tcsetpgrp(terminal, group); /* should it fail, the program is told so when it reads */
	close(terminal);
}

/*
 * What was sent to the supervisor alone is for the program. What was sent to the group that all of us are in has
 * reached the program already, and it must not get it twice: many take a second one for "at once, then".
 */
static void forward_signals(struct warden *w)
{
	while (w->request_count > 0) {
		int32_t request = w->requests[--w->request_count];
		int number = request % 128;
		pid_t sender = request / 128;
		if (number < 1 || number >= STANDARD_SIGNALS || w->program <= 0)
			continue;
		pid_t group = getpgid(w->program);
		if (group == getpgrp()) {
			if (met_too(w, number, sender))
				continue;
			usleep(1000); /* the kernel may be half through the group */
			read_signals(w);
			if (met_too(w, number, sender))
				continue;
		} else if (number == SIGCONT && group > 0) {
			hand_on_terminal(group);
		}
		kill(w->program, number);
	}
}

/* ------------------------------------------------------------------ the wait */

static void program_changed(struct warden *w, int status)
{
	if (WIFSTOPPED(status)) {
		program_stopped(w, WSTOPSIG(status));
	} else if (WIFCONTINUED(status)) {
		let_supervisor_run(w);
	} else {
		say(w, SAY_MAIN_EXIT, status);
		w->program = -1;
	}
}

static void listen_to_house(struct warden *w)
{
	struct message message;
	ssize_t size;
	while (w->from_house >= 0 && (size = recv(w->from_house, &message, sizeof message, MSG_DONTWAIT)) != 0) {
		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0 && errno == EAGAIN)
			return;
		if (size != (ssize_t)sizeof message)
			break;
		if (message.kind == TOLD_PROGRAM) {
			w->program = message.value;
			say(w, SAY_STARTED, w->program);
		} else if (message.kind == TOLD_INIT) {
			w->init = message.value;
		} else if (message.kind == TOLD_STATUS) {
			program_changed(w, message.value);
		}
	}
	close(w->from_house);
	w->from_house = -1;
}

/*
 * It goes when nobody is left. If it went before, nothing may go on: calls that it would have made are refused for
 * good, and how the program ended nobody will know.
 */
static void house_is_gone(struct warden *w)
{
	listen_to_house(w);
	w->house = 0;
	end_all_below();
	if (w->program > 0)
		say(w, SAY_MAIN_EXIT, SIGKILL);
	w->program = -1;
}

/* Returns 0 when no child is left. */
static int reap(struct warden *w)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, __WALL | WNOHANG | WUNTRACED | WCONTINUED);
		if (pid == 0)
			return 1;
		if (pid < 0)
			return errno == ECHILD ? 0 : 1;
		if (pid == w->program)
			program_changed(w, status);
		else if (pid == w->house && (WIFEXITED(status) || WIFSIGNALED(status)))
			house_is_gone(w);
	}
}

static void listen_to_supervisor(struct warden *w, int go)
{
	struct message message;
	ssize_t size = recv(w->socket, &message, sizeof message, MSG_DONTWAIT);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size != (ssize_t)sizeof message) { /* the supervisor is gone */
		end_all_below();
		_exit(0);
	}
	switch (message.kind) {
	case TELL_GO:
		if (write(go, "g", 1) != 1)
			w->ending = 1;
		break;
	case TELL_HEARD:
		w->unheard = 0;
		break;
	case TELL_KILL:
		w->ending = 1;
		break;
	}
}

static void supervise(struct warden *w, int go)
{
	int over = 0;
	for (;;) {
		struct pollfd fds[3] = { { w->socket, POLLIN, 0 }, { w->signals, POLLIN, 0 }, { w->from_house, POLLIN, 0 } };
		if (over && w->unheard == 0)
			return;
		if (poll(fds, 3, w->unheard || w->ending ? 10 : w->stop_to_follow ? STOP_CHECK_MS : -1) < 0 && errno != EINTR)
			return;
		if (read_signals(w) < 0)
			return;
		forward_signals(w);
		if (fds[2].revents)
			listen_to_house(w);
		if (!over && !reap(w)) {
			over = 1;
			say(w, SAY_OVER, 0);
		}
		if (fds[0].revents)
			listen_to_supervisor(w, go);
		if (w->ending && w->house > 0) /* again and again: who is orphaned meanwhile is met elsewhere */
			kill_below(w->house);
		if (w->unheard)
			nudge(w);
		else if (w->stop_to_follow)
			follow_stop(w);
	}
}

/* The table of answers that stand, which the broker shares with the supervisor. */
static struct settled *map_table(int fd)
{
	void *map = mmap(NULL, sizeof(struct settled), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

static struct plan *map_plan(int fd)
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

/* The program is a child of the broker's process, which stands behind the fence with it. */
static void start_house(struct warden *w, const struct house_doors *doors, const int go[2])
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		fail(w->plan);
	w->house = fork();
	if (w->house == 0) {
		close(w->socket);
		close(w->signals);
		close(go[1]);
		close(ends[0]);
		keep_house(w->plan, doors, ends[1], go[0]);
	}
	if (w->house < 0)
		fail(w->plan);
	w->from_house = ends[0];
}

/* What we open must not lie where the program's stdin, stdout and stderr are put. */
static int fill_stdio(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_PATH | O_CLOEXEC) != fd)
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	struct warden w = { .from_house = -1 };
	int go[2];
	sigset_t every;

	if (argc > 0 && strcmp(argv[0], "hermes-keep") == 0)
		return keep_main(argc, argv);
	if (argc != 6) {
		fputs("hermes-launch is started by hermes; it is not for use by hand\n", stderr);
		return 2;
	}
	w.socket = atoi(argv[2]);
	w.plan = map_plan(atoi(argv[1]));
	if (w.plan == NULL)
		return 125;
	const struct house_doors doors = { atoi(argv[3]), atoi(argv[4]), map_table(atoi(argv[5])) };
	if (doors.table == NULL || fill_stdio() < 0)
		fail(w.plan);
	close(atoi(argv[1]));

	/* Terminal signals go to the whole foreground group, us included; they are for the program, not for us. */
	sigfillset(&every);
	sigprocmask(SIG_SETMASK, &every, NULL);
	w.signals = signalfd(-1, &every, SFD_CLOEXEC | SFD_NONBLOCK);
	if (w.signals < 0 || pipe2(go, O_CLOEXEC) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || proc_folder() < 0)
		fail(w.plan);
	start_house(&w, &doors, go);
	/* The program must not look into us, though it has the same user. What it was given is its own: we keep no pipe open. */
	int32_t own[] = { w.socket, w.signals, go[1], w.from_house, proc_folder() };
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || close_all_but(0, own, sizeof own / sizeof own[0]) < 0)
		end_all_below();
	supervise(&w, go[1]);
	return 0;
}
