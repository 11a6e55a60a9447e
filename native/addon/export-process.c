/*
 * The functions that concern the whole supervising process: its signals, its terminals and descriptors, its exit, and the
 * kernel that it runs on.
 */
#define _GNU_SOURCE
#include "values.h"
#include "../kernel/wake-signal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

/* wake(tid): interrupts the wait of that worker thread */
static napi_value wake(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	return number(env, syscall(SYS_tgkill, getpid(), integer(&c, 0), WAKE_SIGNAL) < 0 ? -errno : 0);
}

static napi_value kill_process(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	return number(env, kill((pid_t)integer(&c, 0), (int)integer(&c, 1)) < 0 ? -errno : 0);
}

/* forward(launcher, signal, sender): sends it to the program, unless the same sender has sent it to the program already */
static napi_value forward(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	union sigval value = { .sival_int = (int)(integer(&c, 2) * 128 + integer(&c, 1)) };
	return number(env, sigqueue((pid_t)integer(&c, 0), FORWARD_SIGNAL, value) < 0 ? -errno : 0);
}

/*
 * releaseStdio(): closes our stdin and stdout, which the program has now. While we keep them open, the other end of a pipe
 * does not see that the program has closed its own.
 */
static napi_value release_stdio(napi_env env, napi_callback_info info)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC), failed = 0;
	(void)info;
	if (fd < 0)
		return number(env, -errno);
	for (int i = 0; i < 2 && !failed; i++)
		if (dup3(fd, i, O_CLOEXEC) < 0)
			failed = errno;
	close(fd);
	return number(env, -failed);
}

/* launcher(): the launcher's pid */
static napi_value launcher_pid(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	return need_session(&c) ? number(env, c.session->launcher) : NULL;
}

static napi_value pair_of(napi_env env, const int ends[2])
{
	napi_value pair;
	napi_create_array_with_length(env, 2, &pair);
	napi_set_element(env, pair, 0, number(env, ends[0]));
	napi_set_element(env, pair, 1, number(env, ends[1]));
	return pair;
}

static napi_value make_pipe(napi_env env, napi_callback_info info)
{
	int ends[2];
	(void)info;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
		napi_throw_error(env, NULL, strerror(errno));
		return NULL;
	}
	return pair_of(env, ends);
}

/* terminal(columns, rows): a new pseudo terminal, [our end, the program's end] */
static napi_value make_terminal(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	struct winsize size = { .ws_col = (unsigned short)integer(&c, 0), .ws_row = (unsigned short)integer(&c, 1) };
	int ends[2] = { posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK), -1 };
	if (ends[0] >= 0 && unlockpt(ends[0]) == 0)
		ends[1] = ioctl(ends[0], TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (ends[1] < 0 || ioctl(ends[1], TIOCSWINSZ, &size) < 0) {
		napi_throw_error(env, NULL, strerror(errno));
		for (int i = 0; i < 2; i++)
			if (ends[i] >= 0)
				close(ends[i]);
		return NULL;
	}
	return pair_of(env, ends);
}

/* resizeTerminal(fd, columns, rows): the program gets SIGWINCH */
static napi_value resize_terminal(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	struct winsize size = { .ws_col = (unsigned short)integer(&c, 1), .ws_row = (unsigned short)integer(&c, 2) };
	return number(env, ioctl((int)integer(&c, 0), TIOCSWINSZ, &size) < 0 ? -errno : 0);
}

/* terminalSize(fd): rows * 65536 + columns */
static napi_value terminal_size(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	struct winsize size;
	if (ioctl((int)integer(&c, 0), TIOCGWINSZ, &size) < 0)
		return number(env, -errno);
	return number(env, (int64_t)size.ws_row << 16 | size.ws_col);
}

/*
 * holdSession(launcher, yes): we stop the session's processes while a person is asked; the launcher must not take that for
 * job control
 */
static napi_value hold_session(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	union sigval value = { .sival_int = integer(&c, 1) ? HOLD_REQUEST : RELEASE_REQUEST };
	return number(env, sigqueue((pid_t)integer(&c, 0), FORWARD_SIGNAL, value) < 0 ? -errno : 0);
}

struct taken {
	struct termios modes;
	pid_t group;
};

/* The modes for a person who types a line, independent of what the program has set. */
static struct termios plain_modes(const struct termios *found)
{
	struct termios plain = *found;
	plain.c_iflag = BRKINT | ICRNL | IMAXBEL | IUTF8;
	plain.c_oflag = OPOST | ONLCR;
	plain.c_lflag = ISIG | ICANON | IEXTEN | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE;
	plain.c_cflag |= CREAD | CS8;
	memset(plain.c_cc, _POSIX_VDISABLE, sizeof plain.c_cc);
	plain.c_cc[VINTR] = 'C' - '@';
	plain.c_cc[VERASE] = 0177;
	plain.c_cc[VKILL] = 'U' - '@';
	plain.c_cc[VWERASE] = 'W' - '@';
	plain.c_cc[VEOF] = 'D' - '@';
	plain.c_cc[VMIN] = 1;
	return plain;
}

/* Root can lock modes (TIOCSLCKTRMIOS): then tcsetattr() succeeds and changes nothing. */
static int set_modes(int fd, const struct termios *wanted)
{
	struct termios now;
	if (tcsetattr(fd, TCSAFLUSH, wanted) < 0 || tcgetattr(fd, &now) < 0)
		return -errno;
	int same = now.c_iflag == wanted->c_iflag && now.c_oflag == wanted->c_oflag && now.c_lflag == wanted->c_lflag &&
		   memcmp(now.c_cc, wanted->c_cc, sizeof now.c_cc) == 0;
	return same ? 0 : -EPERM;
}

static int give_back(int fd, struct taken *taken)
{
	int failed = tcflush(fd, TCIFLUSH) < 0 || tcsetattr(fd, TCSANOW, &taken->modes) < 0 ? -errno : 0;
	if (taken->group > 0 && tcsetpgrp(fd, taken->group) < 0 && failed == 0)
		failed = -errno;
	return failed;
}

static int take(int fd, struct taken *taken)
{
	if (tcgetattr(fd, &taken->modes) < 0)
		return -errno;
	taken->group = tcgetpgrp(fd);
	if (tcsetpgrp(fd, getpgrp()) < 0)
		return -errno;
	struct termios plain = plain_modes(&taken->modes);
	int failed = tcflow(fd, TCOON) < 0 ? -errno : set_modes(fd, &plain);
	if (failed)
		give_back(fd, taken);
	return failed;
}

/* Every byte is passed on as it is, both ways. Not from the background: the terminal is another program's then. */
static int make_raw(int fd, struct taken *taken)
{
	if (tcgetattr(fd, &taken->modes) < 0)
		return -errno;
	if (tcgetpgrp(fd) != getpgrp())
		return -EPERM;
	struct termios raw = taken->modes;
	cfmakeraw(&raw);
	return tcsetattr(fd, TCSADRAIN, &raw) < 0 ? -errno : 0;
}

static int end_raw(int fd, struct taken *taken)
{
	return tcsetattr(fd, TCSADRAIN, &taken->modes) < 0 ? -errno : 0;
}

/* SIGTTOU stops a background process that changes the terminal, unless it blocks that signal. */
static napi_value on_terminal(napi_env env, napi_callback_info info, int (*act)(int, struct taken *))
{
	struct call c = open_call(env, info);
	size_t size;
	struct taken taken;
	uint8_t *room = bytes(&c, 1, &size);
	sigset_t output, before;
	if (room == NULL || size < sizeof taken)
		return number(env, -EINVAL);
	memcpy(&taken, room, sizeof taken);
	sigemptyset(&output);
	sigaddset(&output, SIGTTOU);
	if (pthread_sigmask(SIG_BLOCK, &output, &before) != 0)
		return number(env, -EINVAL);
	int failed = act((int)integer(&c, 0), &taken);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	memcpy(room, &taken, sizeof taken);
	return number(env, failed);
}

/* takeTerminal(fd, state): puts our process group in the foreground, sets plain line modes, drops pending input */
static napi_value take_terminal(napi_env env, napi_callback_info info)
{
	return on_terminal(env, info, take);
}

/* giveTerminal(fd, state): restores what takeTerminal() changed */
static napi_value give_terminal(napi_env env, napi_callback_info info)
{
	return on_terminal(env, info, give_back);
}

/* rawTerminal(fd, state): raw modes; endRawTerminal(fd, state) restores what they were */
static napi_value raw_terminal(napi_env env, napi_callback_info info)
{
	return on_terminal(env, info, make_raw);
}

static napi_value end_raw_terminal(napi_env env, napi_callback_info info)
{
	return on_terminal(env, info, end_raw);
}

/*
 * Whether a signal is forwarded depends on its sender, and Node does not report the sender: signals of the terminal reach
 * the program by themselves. A signal handler can reach its state only through a static variable.
 */
static volatile int relay_fd = -1;

static void on_relayed(int signal_number, siginfo_t *info, void *context)
{
	int32_t record[3] = { signal_number, info->si_code, info->si_pid };
	int before = errno;
	(void)context;
	if (relay_fd >= 0 && write(relay_fd, record, sizeof record) < 0)
		errno = before;
	errno = before;
}

/* relaySignals(fd, numbers): each of these signals is written to fd as {number, code, pid} */
static napi_value relay_signals(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	size_t count;
	uint8_t *numbers = bytes(&c, 1, &count);
	relay_fd = (int)integer(&c, 0);
	for (size_t i = 0; numbers != NULL && i < count; i++) {
		struct sigaction action = { .sa_sigaction = on_relayed, .sa_flags = SA_SIGINFO | SA_RESTART };
		if (sigaction(numbers[i], &action, NULL) < 0)
			return number(env, -errno);
	}
	return number(env, 0);
}

static napi_value ignore_signal(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	struct sigaction action = { .sa_handler = SIG_IGN };
	return number(env, sigaction((int)integer(&c, 0), &action, NULL) < 0 ? -errno : 0);
}

/*
 * hide(): makes this process not dumpable, so that other processes of the same user, the program among them, cannot read
 * its memory, environment and descriptors. Throws when that fails, because then no program may run.
 */
static napi_value hide(napi_env env, napi_callback_info info)
{
	(void)info;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		napi_throw_error(env, NULL, "this process cannot be hidden from the program: prctl(PR_SET_DUMPABLE) was refused");
	return number(env, 0);
}

/*
 * exitNow(code): exits without Node's exit handlers. Those would reset the terminal to its state at our start, although
 * the program may have changed it on purpose.
 */
static napi_value exit_now(napi_env env, napi_callback_info info)
{
	struct call c = open_call(env, info);
	_exit((int)integer(&c, 0));
}

/* probe(): what this kernel supports, as bits of src/kernel/binding/native.ts */
static napi_value probe(napi_env env, napi_callback_info info)
{
	uint32_t action = SECCOMP_RET_USER_NOTIF;
	struct seccomp_notif_sizes sizes;
	int64_t bits = 0;
	(void)info;
	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
		bits |= 1;
	action = SECCOMP_RET_TRACE;
	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
		bits |= 2;
	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) == 0 &&
	    sizes.seccomp_notif == sizeof(struct seccomp_notif) && sizes.seccomp_data == sizeof(struct seccomp_data))
		bits |= 4;
	long landlock = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	if (landlock > 0)
		bits |= (int64_t)landlock << 8;
	return number(env, bits);
}

/*
 * refusedCalls(): which of these calls a sandbox around us refuses, as bits in this order. The arguments are invalid, so
 * the kernel itself would answer with another error. Without them, a message of the session would be lost, or a
 * broker that hangs could not be given up.
 */
static napi_value refused_calls(napi_env env, napi_callback_info info)
{
	/* Where a process is named it is this one: a policy around us permits that. */
	const long self = getpid();
	const struct {
		long number, first, second;
	} needed[] = {
		{ SYS_sendto, -1, 0 },	 { SYS_sendmsg, -1, 0 },       { SYS_recvmsg, -1, 0 },
		{ SYS_setsockopt, -1, 0 }, { SYS_shutdown, -1, 0 },    { SYS_pidfd_open, self, -1 },
		{ SYS_process_vm_readv, self, 0 }, { SYS_ptrace, PTRACE_DETACH, self },
	};
	int64_t bits = 0;
	(void)info;
	for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
		if (syscall(needed[i].number, needed[i].first, needed[i].second, 0L, 0L, 0L, 0L) < 0 &&
		    (errno == EPERM || errno == EACCES || errno == ENOSYS))
			bits |= 1L << i;
	return number(env, bits);
}

napi_status export_process_functions(napi_env env, napi_value exports)
{
	static const struct exported surface[] = {
		{ "wake", wake }, { "kill", kill_process }, { "forward", forward }, { "launcher", launcher_pid },
		{ "releaseStdio", release_stdio }, { "pipe", make_pipe },
		{ "terminal", make_terminal }, { "resizeTerminal", resize_terminal }, { "relaySignals", relay_signals },
		{ "terminalSize", terminal_size },
		{ "holdSession", hold_session }, { "takeTerminal", take_terminal }, { "giveTerminal", give_terminal },
		{ "rawTerminal", raw_terminal }, { "endRawTerminal", end_raw_terminal },
		{ "ignoreSignal", ignore_signal }, { "hide", hide }, { "exitNow", exit_now }, { "probe", probe },
		{ "refusedCalls", refused_calls },
	};
	return export_functions(env, exports, surface, sizeof surface / sizeof surface[0]);
}
