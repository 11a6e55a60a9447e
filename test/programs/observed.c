/*
 * Makes known numbers of calls in every way that a program can: 16 threads, a signal handler that interrupts, one that is
 * left by a jump, fork, vfork, posix_spawn, a child that shares its memory. Prints the numbers of its processes.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 16, CALLS = 2000, STACK = 65536 };

extern char **environ;
static sigjmp_buf out;
static volatile int interrupted;

__attribute__((noinline)) int observed(int a, long b)
{
	__asm__ volatile("" ::: "memory");
	return a + (int)b;
}

static void *work(void *argument)
{
	for (int i = 0; i < CALLS; i++) {
		getppid();
		observed(i, 7);
	}
	return argument;
}

static void on_alarm(int number)
{
	(void)number;
	interrupted++;
	getegid();
}

static void jump_out(int number)
{
	(void)number;
	siglongjmp(out, 1);
}

static int in_shared_memory(void *argument)
{
	(void)argument;
	for (int i = 0; i < 10; i++)
		getpgrp();
	_exit(0);
}

static void every(int microseconds)
{
	struct itimerval timer = { { 0, microseconds }, { 0, microseconds } };
	setitimer(ITIMER_REAL, &timer, NULL);
}

int main(void)
{
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		pthread_create(threads + i, NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);

	struct sigaction action = { .sa_handler = on_alarm };
	sigaction(SIGALRM, &action, NULL);
	every(300);
	for (int i = 0; i < CALLS || interrupted < 20; i++)
		getgid();
	every(0);

	action.sa_handler = jump_out;
	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < 3; i++)
		if (sigsetjmp(out, 1) == 0) {
			every(1000);
			for (;;)
				pause();
		}
	every(0);

	int forked = fork();
	if (forked == 0) {
		for (int i = 0; i < 7; i++)
			geteuid();
		_exit(3);
	}
	waitpid(forked, NULL, 0);
	int vforked = vfork();
	if (vforked == 0) {
		lseek(99, 5, SEEK_SET);
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	waitpid(vforked, NULL, 0);
	char *words[] = { "true", NULL };
	pid_t spawned;
	posix_spawn(&spawned, "/bin/true", NULL, NULL, words, environ);
	waitpid(spawned, NULL, 0);
	char *stack = malloc(STACK);
	int cloned = clone(in_shared_memory, stack + STACK, CLONE_VM | SIGCHLD, NULL);
	waitpid(cloned, NULL, 0);
	struct timespec moment = { 0, 1000000 };
	nanosleep(&moment, NULL);
	close(77);
	printf("%d %d %d %d %d %d\n", getpid(), forked, vforked, spawned, cloned, interrupted);
	return 0;
}
