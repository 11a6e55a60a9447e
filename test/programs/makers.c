/*
 * makers PROCESSES THREADS ROUNDS: each process has a umask and a folder of its own; their threads make, read and remove
 * files there, ask for secrets, and now and then start a program, all at the same time. Whoever sees something that it
 * would not see alone says so. With 0 rounds they go on until there is a file "stop" beside the folders, and write what
 * their last opens of ../plain gave into a file "seen" each.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOME = 200, PROGRAM_EVERY = 50 };

static int process, rounds;
static mode_t mask;

static void wrong(const char *what, long got, long expected)
{
	printf("process %d: %s: %ld, not %ld (%s)\n", process, what, got, expected, strerror(errno));
}

static void make_and_remove(long thread, int round)
{
	char name[64], text[64] = "";
	struct stat info;
	snprintf(name, sizeof name, "%ld-%d", thread, round);
	int fd = open(name, O_CREAT | O_EXCL | O_RDWR, 0666);
	if (fd < 0 || fstat(fd, &info) < 0)
		return wrong("making", fd, 0);
	if ((info.st_mode & 0777) != (0666 & ~mask))
		wrong("mode", info.st_mode & 0777, 0666 & ~mask);
	if (write(fd, name, strlen(name)) < 0)
		wrong("writing", -1, 0);
	close(fd);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t length = read(fd, text, sizeof text - 1);
	if (length != (ssize_t)strlen(name) || strcmp(text, name) != 0)
		wrong("reading", length, (long)strlen(name));
	close(fd);
	if (unlink(name) < 0)
		wrong("removing", -1, 0);
	if (mkdir(name, 0777) < 0 || stat(name, &info) < 0 || (info.st_mode & 0777) != (0777 & ~mask) || rmdir(name) < 0)
		wrong("folder", info.st_mode & 0777, 0777 & ~mask);
}

static void ask_for_secret(void)
{
	int fd = open("../secret", O_RDONLY);
	if (fd >= 0 || errno != EXDEV)
		wrong("secret", fd, -1);
	if (fd >= 0)
		close(fd);
}

static void start_program(void)
{
	char *argv[] = { "sh", "-c", "exit 7", NULL }, *envp[] = { NULL };
	pid_t pid;
	int status = 0;
	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, envp) != 0 || waitpid(pid, &status, 0) < 0 || WEXITSTATUS(status) != 7)
		wrong("program", status, 7 << 8);
}

static void *work(void *argument)
{
	for (int i = 0; i < rounds; i++) {
		make_and_remove((long)argument, i);
		ask_for_secret();
		if (i % PROGRAM_EVERY == PROGRAM_EVERY - 1)
			start_program();
	}
	return NULL;
}

static void *look(void *argument)
{
	while (access("../stop", F_OK) < 0) {
		int good = 0, busy = 0;
		for (int i = 0; i < SOME; i++) {
			int fd = open("../plain", O_RDONLY);
			good += fd >= 0;
			busy += fd < 0 && errno == EBUSY;
			if (fd >= 0)
				close(fd);
		}
		FILE *file = argument == NULL ? fopen("seen", "w") : NULL;
		if (file != NULL) {
			fputs(good == SOME ? "all" : busy == SOME ? "none" : "some", file);
			fclose(file);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int processes = argc > 3 ? atoi(argv[1]) : 0, threads = processes ? atoi(argv[2]) : 0;
	rounds = processes ? atoi(argv[3]) : 0;
	for (process = 0; process < processes; process++) {
		char folder[16];
		snprintf(folder, sizeof folder, "p%d", process);
		if (fork() != 0)
			continue;
		mask = (mode_t)(process * 011 & 077);
		if (mkdir(folder, 0755) < 0 || chdir(folder) < 0)
			wrong("own folder", -1, 0);
		umask(mask);
		pthread_t all[64];
		for (long i = 0; i < threads; i++)
			pthread_create(&all[i], NULL, rounds ? work : look, (void *)i);
		for (long i = 0; i < threads; i++)
			pthread_join(all[i], NULL);
		exit(0);
	}
	int ended = 0, status;
	while (wait(&status) > 0)
		ended += status == 0;
	printf("%d ended\n", ended);
	return 0;
}
