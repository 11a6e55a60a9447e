/* Calls that no signal can interrupt must not fail in a storm of signals. With an argument: without SA_RESTART. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t ticks;
static int errors[256];

static void on_tick(int number)
{
	(void)number;
	ticks++;
}

static void check(int failed)
{
	if (failed)
		errors[errno & 255]++;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = argc > 1 ? 0 : SA_RESTART };
	struct itimerval often = { { 0, 500 }, { 0, 500 } };
	struct stat info;
	char text[64];
	(void)argv;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	int rounds = 0;
	for (; rounds < 1500 || ticks < 200; rounds++) {
		int fd = open("file", O_RDWR | O_CREAT, 0644);
		check(fd < 0);
		check(pwrite(fd, "text", 4, 0) != 4);
		check(pread(fd, text, sizeof text, 0) != 4);
		check(fstat(fd, &info) < 0);
		check(stat("file", &info) < 0);
		check(close(fd) < 0);
		void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		check(page == MAP_FAILED);
		check(munmap(page, 4096) < 0);
		check(getcwd(text, 1) != NULL); /* ERANGE every time, nothing else */
		if (errno != ERANGE)
			check(1);
		if (rounds % 100 == 0) {
			pid_t child = fork();
			if (child == 0)
				_exit(0);
			check(child < 0);
			while (waitpid(child, NULL, 0) < 0)
				if (errno != EINTR)
					break;
		}
	}
	struct itimerval never = { { 0, 0 }, { 0, 0 } };
	setitimer(ITIMER_REAL, &never, NULL);
	for (int i = 0; i < 256; i++)
		if (errors[i])
			printf("%s %d times\n", strerrorname_np(i), errors[i]);
	puts("the storm is over");
	return 0;
}
