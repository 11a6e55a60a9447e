/*
 * Sixteen threads that do what programs do all day, each checking that nothing happens to it that should not: no wait
 * that ends early, no lost byte, signal or child, no changed register. SIGTERM ends it: it prints how often each went
 * round and how many waits ended with EINTR although no handler ran, and exits with 7; a thread that finds something wrong
 * says so and ends it with 1. SIGCHLD is blocked: glibc blocks it for a moment in fork, and then the kernel itself wakes
 * some other thread for it, always the same one until that one is stopped.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int stop;
static unsigned long rounds[16];
static atomic_int interruptions;
static int pipes[2], sockets[2], epoll, semaphore;
static char folder[] = "/tmp/hermes-steady-XXXXXX";
static volatile sig_atomic_t handled;

static void wrong(const char *what, long got)
{
	printf("wrong: %s: %ld, errno %d (%s)\n", what, got, errno, strerror(errno));
	fflush(stdout);
	_exit(1);
}

static long long now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static void expect(const char *what, long got, long want, int error)
{
	if (got != want || (want < 0 && errno != error))
		wrong(what, got);
}

/* The same for a call that the kernel does not make again by itself. */
static void expect_unspoiled(const char *what, long got, long want, int error)
{
	if (got < 0 && errno == EINTR)
		atomic_fetch_add(&interruptions, 1);
	else
		expect(what, got, want, error);
}

static void sleeps(void)
{
	struct timespec t = { 0, 5000000 };
	long long from = now_us();
	expect("nanosleep", nanosleep(&t, NULL), 0, 0);
	if (now_us() - from < 5000)
		wrong("nanosleep was short", now_us() - from);
}

static void polls(void)
{
	struct pollfd fd = { sockets[0], POLLPRI, 0 };
	long long from = now_us();
	expect("poll", poll(&fd, 1, 7), 0, 0);
	if (now_us() - from < 6900)
		wrong("poll was short", now_us() - from);
}

static void waits_for_futex(void)
{
	static int word;
	struct timespec t = { 0, 6000000 };
	expect("futex", syscall(SYS_futex, &word, FUTEX_WAIT, 0, &t, NULL, 0), -1, ETIMEDOUT);
}

static void waits_for_events(void)
{
	struct epoll_event event;
	expect_unspoiled("epoll_wait", epoll_wait(epoll, &event, 1, 5), 0, 0);
}

static void waits_for_signal(void)
{
	sigset_t set;
	struct timespec t = { 0, 5000000 };
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	expect_unspoiled("sigtimedwait", sigtimedwait(&set, NULL, &t), -1, EAGAIN);
}

static void waits_for_semaphore(void)
{
	struct sembuf take = { 0, -1, 0 };
	struct timespec t = { 0, 5000000 };
	expect_unspoiled("semtimedop", semtimedop(semaphore, &take, 1, &t), -1, EAGAIN);
}

static void receives_late(void)
{
	char byte;
	expect_unspoiled("recv with a time limit", recv(sockets[0], &byte, 1, 0), -1, EAGAIN);
}

static void reads_in_order(void)
{
	static unsigned char next;
	unsigned char got;
	expect("read", read(pipes[0], &got, 1), 1, 0);
	if (got != next++)
		wrong("a byte was lost", got);
}

static void writes_in_order(void)
{
	static unsigned char next;
	usleep(next % 16 ? 0 : 300);
	expect("write", write(pipes[1], &next, 1), 1, 0);
	next++;
}

static void computes(void)
{
	double sum = 0;
	unsigned long a = 1, b = 2, c = 3;
	for (int i = 1; i <= 200000; i++) {
		sum += 1.0 / i;
		a = a * 6364136223846793005UL + 1;
		b ^= a >> 7;
		c += b;
	}
	static double first;
	static unsigned long before;
	if (first != 0 && (first != sum || before != c))
		wrong("a register was changed", (long)c);
	first = sum;
	before = c;
}

static void opens(void)
{
	char text[64];
	int fd = open("/etc/passwd", O_RDONLY);
	if (fd < 3)
		wrong("open", fd);
	expect("read of a file", read(fd, text, 64), 64, 0);
	expect("close", close(fd), 0, 0);
}

static void forks(void)
{
	int status;
	pid_t pid = fork();
	if (pid == 0)
		_exit(42);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 42)
		wrong("fork", pid);
	usleep(2000);
}

static void spawns(void)
{
	char *argv[] = { "true", NULL }, *envp[] = { NULL };
	int status;
	pid_t pid;
	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, envp) != 0 || waitpid(pid, &status, 0) != pid || status != 0)
		wrong("spawn", status);
	usleep(3000);
}

static void signals_itself(void)
{
	sig_atomic_t before = handled;
	if (pthread_kill(pthread_self(), SIGUSR2) != 0 || handled != before + 1)
		wrong("a signal was lost", handled);
	usleep(500);
}

static void *nothing(void *argument)
{
	return argument;
}

static void makes_threads(void)
{
	pthread_t thread;
	void *result;
	if (pthread_create(&thread, NULL, nothing, rounds) != 0 || pthread_join(thread, &result) != 0 || result != rounds)
		wrong("thread", 0);
	usleep(1000);
}

static void changes_files(void)
{
	char from[64], to[64];
	snprintf(from, sizeof from, "%s/a", folder);
	snprintf(to, sizeof to, "%s/b", folder);
	expect("mkdir", mkdir(from, 0700), 0, 0);
	expect("rename", rename(from, to), 0, 0);
	expect("rmdir", rmdir(to), 0, 0);
}

static void (*const LOOPS[16])(void) = { sleeps, polls, waits_for_futex, waits_for_events, waits_for_signal,
					 waits_for_semaphore, receives_late, reads_in_order, writes_in_order, computes,
					 opens, forks, spawns, signals_itself, makes_threads, changes_files };

static void *run(void *argument)
{
	long i = (long)argument;
	while (!stop) {
		LOOPS[i]();
		rounds[i]++;
	}
	return NULL;
}

static void on_signal(int number)
{
	(void)number;
	handled++;
}

int main(void)
{
	pthread_t threads[16];
	sigset_t set;
	int number;
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct timeval limit = { 0, 5000 };
	sigaction(SIGUSR2, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	epoll = epoll_create1(0);
	semaphore = semget(IPC_PRIVATE, 1, 0600);
	if (pipe(pipes) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0 || mkdtemp(folder) == NULL)
		return 2;
	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	for (long i = 0; i < 16; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	puts("ready");
	fflush(stdout);
	sigdelset(&set, SIGUSR1);
	sigdelset(&set, SIGCHLD);
	sigwait(&set, &number);
	stop = 1;
	for (int i = 0; i < 16; i++)
		if (i != 7)
			pthread_join(threads[i], NULL);
	semctl(semaphore, 0, IPC_RMID);
	rmdir(folder);
	for (int i = 0; i < 16; i++)
		printf("%lu ", rounds[i]);
	printf("\ninterruptions %d\n", atomic_load(&interruptions));
	fflush(stdout);
	_exit(7);
}
