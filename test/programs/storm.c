/* Opens argv[1] from 8 threads and 8 children while a timer signal keeps firing; all must read argv[2]. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *path, *wanted;
static int wrong;

static void on_alarm(int number)
{
	int before = errno, fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	(void)number;
	if (fd >= 0)
		close(fd);
	errno = before;
}

static int opens(int times)
{
	int bad = 0;
	for (int i = 0; i < times; i++) {
		char text[16] = "";
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || read(fd, text, strlen(wanted)) < 0 || strcmp(text, wanted) != 0)
			bad++;
		if (fd >= 0)
			close(fd);
	}
	return bad;
}

static void *thread(void *unused)
{
	(void)unused;
	__atomic_add_fetch(&wrong, opens(200), __ATOMIC_SEQ_CST);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[8];
	pid_t children[8];
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 500 }, { 0, 500 } };
	if (argc != 3)
		return 2;
	path = argv[1];
	wanted = argv[2];
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	for (int i = 0; i < 8; i++)
		if ((children[i] = fork()) == 0)
			_exit(opens(50) ? 1 : 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 8; i++) {
		int status;
		while (waitpid(children[i], &status, 0) < 0 && errno == EINTR)
			;
		wrong += status != 0;
	}
	printf("8 threads, 8 children, %d wrong\n", wrong);
	return 0;
}
