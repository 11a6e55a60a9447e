/*
 * Executes a program while a thread rewrites what execve reads: the word (argument 1 is "word") or a variable of its
 * environment. Half of the time it says "permitted", half of the time "forbidden". Argument 2: how often. Argument 3 and
 * those behind it: the program and its words.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char word[] = "WORD=permitted";
static volatile int over;

static void say(const char *said)
{
	memcpy(word + 5, said, 9);
	__asm__ volatile("" ::: "memory");
	for (volatile int i = 0; i < 20000; i++)
		;
}

static void *flip(void *unused)
{
	while (!over) {
		say("permitted");
		say("forbidden");
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	volatile int killed = 0; /* vfork */
	char *words[16] = { NULL }, *environment[] = { argv[1][0] == 'w' ? NULL : word, NULL };
	if (argc < 4 || argc > 12 || pthread_create(&thread, NULL, flip, NULL))
		return 1;
	for (int i = 3; i < argc; i++)
		words[i - 3] = argv[i];
	if (argv[1][0] == 'w')
		words[argc - 3] = word + 5;
	for (int i = 0; i < atoi(argv[2]); i++) {
		int status;
		pid_t pid = vfork();
		if (pid == 0) {
			execve(words[0], words, environment);
			_exit(1);
		}
		waitpid(pid, &status, 0);
		killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	}
	over = 1;
	pthread_join(thread, NULL);
	printf("killed %d\n", killed);
	return 0;
}
