/*
 * Blocking calls of every kind that a signal interrupts, with SA_RESTART and without. The timer fires again and
 * again, so that one signal which comes before the call blocks does not matter.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int pipe_ends[2], sockets[2], epoll, message_queue, semaphore, locked, futex_word;
static volatile sig_atomic_t ticks, release_after;

static void on_tick(int number)
{
	(void)number;
	ticks++;
	if (release_after && ticks >= release_after) /* what restarts must end some day */
		if (write(pipe_ends[1], "x", 1) != 1)
			_exit(99);
}

static void timer(int milliseconds)
{
	struct itimerval every = { { 0, milliseconds * 1000 }, { 0, milliseconds * 1000 } };
	setitimer(ITIMER_REAL, &every, NULL);
}

static long read_pipe(void) { char c; return read(pipe_ends[0], &c, 1); }
static long receive(void) { char c; return recv(sockets[0], &c, 1, 0); }
static long receive_timed(void)
{
	struct timeval long_time = { 100, 0 };
	char c;
	setsockopt(sockets[1], SOL_SOCKET, SO_RCVTIMEO, &long_time, sizeof long_time);
	return recv(sockets[1], &c, 1, 0);
}
static long do_poll(void) { struct pollfd fd = { sockets[0], POLLIN, 0 }; return poll(&fd, 1, 100000); }
static long do_select(void)
{
	fd_set set;
	struct timeval long_time = { 100, 0 };
	FD_ZERO(&set);
	FD_SET(sockets[0], &set);
	return select(sockets[0] + 1, &set, NULL, NULL, &long_time);
}
static long do_epoll(void) { struct epoll_event event; return epoll_wait(epoll, &event, 1, -1); }
static long do_pause(void) { return pause(); }
static long suspend(void) { sigset_t none; sigemptyset(&none); return sigsuspend(&none); }
static long wait_for_signal(void)
{
	sigset_t set;
	siginfo_t info;
	struct timespec long_time = { 100, 0 };
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, &info, &long_time);
}
static long wait_child(void) { int status; return waitpid(-1, &status, 0); }
static long receive_message(void) { char buffer[64]; return msgrcv(message_queue, buffer, 32, 0, 0); }
static long lower(void) { struct sembuf take = { 0, -1, 0 }; return semop(semaphore, &take, 1); }
static long lock_file(void) { return flock(locked, LOCK_EX); }
static long lock_range(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	return fcntl(locked, F_SETLKW, &lock);
}
static long open_fifo(void) { return open("fifo", O_RDONLY); }
static long futex_wait(void)
{
	struct timespec long_time = { 100, 0 };
	return syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, &long_time, NULL, 0);
}
static long accept_one(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr address = { .sa_family = AF_UNIX }; /* an address of the kernel's choice */
	if (bind(fd, &address, sizeof address.sa_family) < 0 || listen(fd, 1) < 0)
		return -1;
	long result = accept(fd, NULL, NULL);
	int failed = errno;
	close(fd);
	errno = failed;
	return result;
}
static long sleep_relative(void)
{
	struct timespec time = { 100, 0 }, left = { 0, 0 };
	long result = nanosleep(&time, &left);
	if (left.tv_sec < 90 || left.tv_sec > 100)
		printf("(odd rest of %ld s) ", (long)left.tv_sec);
	return result;
}
static long sleep_absolute(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_sec += 100;
	int failed = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
	errno = failed;
	return failed ? -1 : 0;
}

static const struct { const char *name; long (*call)(void); int restarts; } calls[] = {
	{ "read", read_pipe, 1 }, { "recv", receive, 1 }, { "recv with timeout", receive_timed, 0 },
	{ "poll", do_poll, 0 }, { "select", do_select, 0 }, { "epoll_wait", do_epoll, 0 }, { "pause", do_pause, 0 },
	{ "sigsuspend", suspend, 0 }, { "sigtimedwait", wait_for_signal, 0 }, { "waitpid", wait_child, 1 },
	{ "msgrcv", receive_message, 0 }, { "semop", lower, 0 }, { "flock", lock_file, 1 },
	{ "fcntl lock", lock_range, 1 }, { "open of a fifo", open_fifo, 1 }, { "futex", futex_wait, 1 },
	{ "accept", accept_one, 1 }, { "nanosleep", sleep_relative, 0 }, { "clock_nanosleep", sleep_absolute, 0 },
};

static void handle(int flags)
{
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = flags };
	sigaction(SIGALRM, &action, NULL);
}

/* Stopping and continuing a process restarts its sleep, without a handler, for the time that was left. */
static void stop_a_sleeper(void)
{
	int status;
	struct timespec before, after;
	clock_gettime(CLOCK_MONOTONIC, &before);
	pid_t sleeper = fork();
	if (sleeper == 0) {
		struct timespec time = { 0, 300 * 1000 * 1000 };
		_exit(nanosleep(&time, NULL) == 0 && poll(NULL, 0, 300) == 0 ? 0 : 1);
	}
	for (int i = 0; i < 10; i++) {
		usleep(40 * 1000);
		kill(sleeper, SIGSTOP);
		if (waitpid(sleeper, &status, WUNTRACED) != sleeper || !WIFSTOPPED(status))
			puts("was not stopped");
		kill(sleeper, SIGCONT);
	}
	waitpid(sleeper, &status, 0);
	clock_gettime(CLOCK_MONOTONIC, &after);
	long took = (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
	printf("a stopped sleeper: status %d, %s\n", status, took < 599 ? "too early" : took > 5000 ? "too late" : "in time");
}

int main(void)
{
	int other[2];
	char ready;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (pipe(pipe_ends) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0 || mkfifo("fifo", 0600) < 0 || pipe(other) < 0)
		return 1;
	struct epoll_event event = { .events = EPOLLIN };
	epoll = epoll_create1(0);
	epoll_ctl(epoll, EPOLL_CTL_ADD, sockets[0], &event);
	message_queue = msgget(IPC_PRIVATE, 0600);
	semaphore = semget(IPC_PRIVATE, 1, 0600);
	pid_t holder = fork();
	if (holder == 0) {
		int fd = open("lock", O_CREAT | O_RDWR, 0600);
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
		if (flock(fd, LOCK_EX) < 0 || fcntl(fd, F_SETLK, &lock) < 0 || write(other[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (read(other[0], &ready, 1) != 1)
		return 1;
	locked = open("lock", O_RDWR);

	handle(0);
	timer(20);
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		long result = calls[i].call();
		printf("%s: %ld %s\n", calls[i].name, result, result < 0 ? strerrorname_np(errno) : "");
	}
	handle(SA_RESTART);
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		if (calls[i].restarts)
			continue;
		long result = calls[i].call();
		printf("%s, never restarted: %ld %s\n", calls[i].name, result, result < 0 ? strerrorname_np(errno) : "");
	}
	ticks = 0;
	release_after = 5;
	printf("read, restarted: %ld\n", read_pipe());
	printf("after at least five signals: %d\n", ticks >= 5);
	release_after = 0;
	timer(0);
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	msgctl(message_queue, IPC_RMID, NULL);
	semctl(semaphore, 0, IPC_RMID);
	stop_a_sleeper();
	return 0;
}
