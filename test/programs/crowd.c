/*
 * Much of one kind, all of it mediated: crowd processes|threads|calls|execs|signals N. Each makes and removes folders
 * in the working directory, and says how many of them it could make.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_ONCE = 200, STACK = 64 * 1024 };
static int made;

static int make(long number)
{
	char name[32];
	snprintf(name, sizeof name, "d%ld", number);
	int ok = mkdir(name, 0700) == 0;
	return rmdir(name) == 0 && ok;
}

static void processes(int count)
{
	for (int running = 0, i = 0; i < count || running > 0;) {
		int status;
		if (i < count && running < AT_ONCE) {
			pid_t pid = fork();
			if (pid == 0)
				_exit(make(i) ? 0 : 1);
			running += pid > 0;
			i++;
		} else if (wait(&status) > 0) {
			running--;
			made += WIFEXITED(status) && WEXITSTATUS(status) == 0;
		}
	}
}

static void *thread(void *number)
{
	__atomic_add_fetch(&made, make((long)number), __ATOMIC_SEQ_CST);
	return NULL;
}

static void threads(int count)
{
	pthread_t *all = calloc((size_t)count, sizeof *all);
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK);
	for (long i = 0; i < count; i++)
		if (pthread_create(&all[i], &small, thread, (void *)i) != 0)
			exit(1);
	for (int i = 0; i < count; i++)
		pthread_join(all[i], NULL);
	free(all);
}

static void on_signal(int number) { (void)number; }

/* A child sends us signals without end while we make folders: none of them may fail for that. */
static void signals(int count)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	sigaction(SIGUSR1, &action, NULL);
	pid_t parent = getpid(), pid = fork();
	if (pid == 0)
		for (;;)
			kill(parent, SIGUSR1);
	for (int i = 0; i < count; i++)
		made += make(i);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	int count = atoi(argv[2]);
	if (strcmp(argv[1], "processes") == 0)
		processes(count);
	else if (strcmp(argv[1], "threads") == 0)
		threads(count);
	else if (strcmp(argv[1], "signals") == 0)
		signals(count);
	else if (strcmp(argv[1], "execs") == 0) {
		made = (argc > 3 ? atoi(argv[3]) : 0) + make(count);
		if (count > 1) {
			char left[16], so_far[16];
			snprintf(left, sizeof left, "%d", count - 1);
			snprintf(so_far, sizeof so_far, "%d", made);
			execl("/proc/self/exe", argv[0], "execs", left, so_far, NULL);
			return 1;
		}
	} else
		for (int i = 0; i < count; i++)
			made += make(i);
	printf("made %d\n", made);
	return 0;
}
