/*
 * becomes WAY FILE: opens the file as often as it takes for answers to stand, becomes somebody else in that way, and opens
 * it once more. Prints the errno of the last open, 0 for none. WAYs end in a process that may less than its parent.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENOUGH = 300, INSIDE = 100000 };
static char **words;
static int ready[2];

static int report(int failed)
{
	printf("%d\n", failed);
	fflush(stdout);
	return 0;
}

static int tried(void)
{
	int fd = open(words[2], O_RDONLY);
	return report(fd < 0 ? errno : 0);
}

static void again(const char *file)
{
	execl(file, file, "open", words[2], NULL);
	report(errno);
	_exit(1);
}

static void drop_bounding_set(void)
{
	for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
			exit(1);
}

static void *again_from_thread(void *unused)
{
	(void)unused;
	again("/proc/self/exe");
	return NULL;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		exit(1);
	close(fd);
}

/* Root there is INSIDE here, so to become 0 is to become somebody else. */
static int as_other_root(void *unused)
{
	char byte;
	(void)unused;
	if (read(ready[0], &byte, 1) != 1 || syscall(SYS_setresgid, 0, 0, 0) < 0 || syscall(SYS_setresuid, 0, 0, 0) < 0)
		exit(1);
	return tried();
}

static int in_user_namespace(void)
{
	static char stack[65536];
	char path[64];
	if (pipe(ready) < 0)
		return 1;
	pid_t child = clone(as_other_root, stack + sizeof stack, CLONE_NEWUSER | SIGCHLD, NULL);
	if (child < 0)
		return 1;
	snprintf(path, sizeof path, "/proc/%d/uid_map", (int)child);
	put(path, "0 100000 65536\n");
	snprintf(path, sizeof path, "/proc/%d/gid_map", (int)child);
	put(path, "0 100000 65536\n");
	if (write(ready[1], "x", 1) != 1)
		return 1;
	waitpid(child, NULL, 0);
	return 0;
}

static pid_t parent_of(pid_t pid)
{
	char path[64], line[256];
	int parent = 0;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "r");
	while (file != NULL && fgets(line, sizeof line, file))
		sscanf(line, "PPid: %d", &parent);
	if (file != NULL)
		fclose(file);
	return parent;
}

/* As nobody, a message that says it is from root. */
static int claims_root(void)
{
	int pair[2];
	struct ucred who = { getpid(), 0, 0 };
	char control[CMSG_SPACE(sizeof who)] = { 0 };
	struct iovec data = { "x", 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof who), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_CREDENTIALS };
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0 || setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
		return 1;
	/* Whoever sends for it may name itself. */
	int failed = EPERM;
	for (who.pid = getpid(); who.pid > 1 && failed; who.pid = parent_of(who.pid)) {
		memcpy(CMSG_DATA(c), &who, sizeof who);
		failed = sendmsg(pair[0], &message, 0) < 0 ? errno : 0;
	}
	return report(failed);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	if (argc < 3)
		return 2;
	words = argv;
	if (strcmp(argv[1], "open") == 0)
		return tried();
	if (strcmp(argv[1], "claim") == 0)
		return claims_root();
	for (int i = 0; i < ENOUGH; i++) {
		int fd = open(argv[2], O_RDONLY);
		if (fd < 0)
			return 1;
		close(fd);
	}
	if (strcmp(argv[1], "set-id") == 0)
		again(argv[3]);
	if (strcmp(argv[1], "user-namespace") == 0)
		return in_user_namespace();
	drop_bounding_set();
	if (strcmp(argv[1], "bounding-set") == 0)
		again("/proc/self/exe");
	if (pthread_create(&thread, NULL, again_from_thread, NULL) != 0)
		return 1;
	for (;;) /* the first thread opens files until the other one's program has taken its number */
		close(open(argv[2], O_RDONLY));
}
