/* waits MILLISECONDS: every way of waiting so long, one line for each: whether the clocks show that it was so long. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static long long length; /* nanoseconds */
static const long long SECOND = 1000000000;

static long long now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static struct timespec spec(long long ns)
{
	return (struct timespec){ ns / SECOND, ns % SECOND };
}

static struct timespec after(clockid_t clock)
{
	return spec(now(clock) + length);
}

static struct timeval val(void)
{
	return (struct timeval){ length / SECOND, length % SECOND / 1000 };
}

static int milliseconds(void)
{
	return (int)(length / 1000000);
}

static void by_nanosleep(void)
{
	struct timespec t = spec(length);
	nanosleep(&t, NULL);
}

static void by_clock_nanosleep(void)
{
	struct timespec t = spec(length);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static void until_monotonic(void)
{
	struct timespec t = after(CLOCK_MONOTONIC);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void until_wall(void)
{
	struct timespec t = after(CLOCK_REALTIME);
	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL);
}

static void by_poll(void)
{
	syscall(SYS_poll, NULL, 0, milliseconds());
}

static void by_ppoll(void)
{
	struct timespec t = spec(length);
	ppoll(NULL, 0, &t, NULL);
}

static void by_select(void)
{
	struct timeval t = val();
	syscall(SYS_select, 0, NULL, NULL, NULL, &t);
}

static void by_pselect(void)
{
	struct timespec t = spec(length);
	pselect(0, NULL, NULL, NULL, &t, NULL);
}

static void by_epoll(void)
{
	struct epoll_event event;
	int fd = epoll_create1(0);
	epoll_wait(fd, &event, 1, milliseconds());
	close(fd);
}

static void by_epoll_timespec(void)
{
	struct epoll_event event;
	struct timespec t = spec(length);
	int fd = epoll_create1(0);
	syscall(441 /* epoll_pwait2 */, fd, &event, 1, &t, NULL, 8);
	close(fd);
}

static void timerfd(clockid_t clock, int flags, struct timespec first)
{
	struct itimerspec t = { { 0, 0 }, first };
	unsigned long long count;
	int fd = timerfd_create(clock, 0);
	timerfd_settime(fd, flags, &t, NULL);
	if (read(fd, &count, sizeof count) != sizeof count)
		printf("timerfd: %s\n", strerror(errno));
	close(fd);
}

static void by_timerfd(void) { timerfd(CLOCK_MONOTONIC, 0, spec(length)); }
static void timerfd_until_monotonic(void) { timerfd(CLOCK_MONOTONIC, TFD_TIMER_ABSTIME, after(CLOCK_MONOTONIC)); }
static void timerfd_until_wall(void) { timerfd(CLOCK_REALTIME, TFD_TIMER_ABSTIME, after(CLOCK_REALTIME)); }

static sigset_t alarms(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return set;
}

static void by_itimer(void)
{
	sigset_t set = alarms();
	struct itimerval t = { { 0, 0 }, val() };
	setitimer(ITIMER_REAL, &t, NULL);
	sigwaitinfo(&set, NULL);
}

static void timer_until_wall(void)
{
	sigset_t set = alarms();
	timer_t timer;
	struct itimerspec t = { { 0, 0 }, after(CLOCK_REALTIME) };
	timer_create(CLOCK_REALTIME, NULL, &timer);
	timer_settime(timer, TIMER_ABSTIME, &t, NULL);
	sigwaitinfo(&set, NULL);
	timer_delete(timer);
}

static void by_sigtimedwait(void)
{
	sigset_t set = alarms();
	struct timespec t = spec(length);
	sigtimedwait(&set, NULL, &t);
}

static void condition_until_wall(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec t = after(CLOCK_REALTIME);
	pthread_mutex_lock(&mutex);
	while (pthread_cond_timedwait(&condition, &mutex, &t) == 0)
		;
}

static void condition_until_monotonic(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec t = after(CLOCK_MONOTONIC);
	pthread_mutex_lock(&mutex);
	while (pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &t) == 0)
		;
}

static void semaphore_until_wall(void)
{
	sem_t semaphore;
	struct timespec t = after(CLOCK_REALTIME);
	sem_init(&semaphore, 0, 0);
	sem_timedwait(&semaphore, &t);
}

static void *lock_until_wall(void *mutex)
{
	struct timespec t = after(CLOCK_REALTIME);
	pthread_mutex_timedlock(mutex, &t);
	return NULL;
}

static void mutex_of(int protocol)
{
	pthread_mutex_t mutex;
	pthread_mutexattr_t how;
	pthread_t thread;
	pthread_mutexattr_init(&how);
	pthread_mutexattr_setprotocol(&how, protocol);
	pthread_mutex_init(&mutex, &how);
	pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, lock_until_wall, &mutex);
	pthread_join(thread, NULL);
}

static void mutex_until_wall(void) { mutex_of(PTHREAD_PRIO_NONE); }
static void inheriting_mutex_until_wall(void) { mutex_of(PTHREAD_PRIO_INHERIT); }

static void by_futex(void)
{
	struct timespec t = spec(length);
	int word = 0;
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, &t, NULL, 0);
}

static void queue_until_wall(void)
{
	struct mq_attr how = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	struct timespec t = after(CLOCK_REALTIME);
	char bytes[8];
	mqd_t queue = mq_open("/hermes-waits", O_CREAT | O_RDWR, 0600, &how);
	mq_timedreceive(queue, bytes, sizeof bytes, NULL, &t);
	mq_close(queue);
	mq_unlink("/hermes-waits");
}

static void by_semop(void)
{
	int id = semget(IPC_PRIVATE, 1, 0600);
	struct sembuf take = { 0, -1, 0 };
	struct timespec t = spec(length);
	semtimedop(id, &take, 1, &t);
	semctl(id, 0, IPC_RMID);
}

static void by_socket(void)
{
	int ends[2];
	char byte;
	struct timeval t = val();
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		return;
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
	if (recv(ends[0], &byte, 1, 0) >= 0)
		printf("recv has something\n");
	close(ends[0]);
	close(ends[1]);
}

static void ignore(int number) { (void)number; }

/* A sleep that is interrupted says what is left of it, and goes on. */
static void in_pieces(void)
{
	struct sigaction action = { .sa_handler = ignore };
	struct itimerval t = { { 0, 0 }, val() };
	struct timespec left = spec(length);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigaction(SIGALRM, &action, NULL);
	t.it_value.tv_sec /= 2;
	t.it_value.tv_usec /= 2;
	setitimer(ITIMER_REAL, &t, NULL);
	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*wait)(void);
	} ways[] = {
#define WAY(name) { #name, name }
		WAY(by_nanosleep), WAY(by_clock_nanosleep), WAY(until_monotonic), WAY(until_wall), WAY(by_poll),
		WAY(by_ppoll), WAY(by_select), WAY(by_pselect), WAY(by_epoll), WAY(by_epoll_timespec), WAY(by_timerfd),
		WAY(timerfd_until_monotonic), WAY(timerfd_until_wall), WAY(by_itimer), WAY(timer_until_wall),
		WAY(by_sigtimedwait), WAY(condition_until_wall), WAY(condition_until_monotonic),
		WAY(semaphore_until_wall), WAY(mutex_until_wall), WAY(inheriting_mutex_until_wall), WAY(by_futex),
		WAY(queue_until_wall), WAY(by_semop), WAY(by_socket), WAY(in_pieces),
	};
	length = argc > 1 ? atoll(argv[1]) * 1000000 : 0;
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		long long wall = now(CLOCK_REALTIME), monotonic = now(CLOCK_MONOTONIC);
		ways[i].wait();
		long long by_wall = now(CLOCK_REALTIME) - wall, by_monotonic = now(CLOCK_MONOTONIC) - monotonic;
		/* The wall clock is read first and last: it shows no less, but for what the kernel's own clocks differ. */
		if (by_monotonic >= length && by_wall >= length - 1000000)
			printf("%s waited\n", ways[i].name);
		else
			printf("%s woke early: %lld and %lld of %lld\n", ways[i].name, by_monotonic, by_wall, length);
		fflush(stdout);
	}
	return 0;
}
