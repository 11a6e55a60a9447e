/*
 * Flips one word between two of equal length, without a pause, in memory that calls point at. What each call did is
 * told by what it left behind: `flip HOW ATTEMPTS GOOD BAD …` prints BROKE when the bad word got through.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST_S = 12, ROOM = 512 };

static volatile int over;
static const char *good, *bad;
static char *flipped;
static int most;

static void *flip(void *unused)
{
	size_t length = strlen(good);
	while (!over) {
		memcpy(flipped, good, length);
		__asm__ volatile("" ::: "memory");
		memcpy(flipped, bad, length);
		__asm__ volatile("" ::: "memory");
	}
	return unused;
}

/* The first place among these texts that holds the good word. */
static void start(char *texts[], int count)
{
	pthread_t thread;
	for (int i = 0; i < count && flipped == NULL; i++)
		flipped = strstr(texts[i], good);
	if (flipped == NULL || strlen(good) != strlen(bad) || pthread_create(&thread, NULL, flip, NULL) != 0)
		exit(2);
}

/* As often as wanted, for a second at least, since bare calls take no time, and never for long. */
static int goes_on(int done)
{
	static time_t began;
	if (began == 0)
		began = time(NULL);
	time_t spent = time(NULL) - began;
	return (done < most || spent < 2) && spent < LONGEST_S;
}

static char *in_memory(const char *text)
{
	char *copy = calloc(1, ROOM);
	if (copy == NULL || strlen(text) >= ROOM)
		exit(2);
	return strcpy(copy, text);
}

static int told(int attempt)
{
	printf("BROKE at try %d\n", attempt);
	over = 1;
	return 0;
}

/* PROGRAM WORD SETTING: a program that says what it was given; its output is the test's to read. */
static int execute(char *argv[])
{
	char *texts[] = { in_memory(argv[0]), in_memory(argv[1]), in_memory(argv[2]) };
	start(texts, 3);
	for (int i = 0; goes_on(i); i++) {
		char *const words[] = { texts[0], texts[1], NULL }, *const settings[] = { texts[2], NULL };
		pid_t child = vfork(); /* it shares its memory with the thread that flips */
		if (child == 0) {
			execve(texts[0], words, settings);
			_exit(127);
		}
		waitpid(child, NULL, 0);
	}
	return 0;
}

/* PORT TEXT: datagrams whose text flips, or whose vector leads to one text or the other. */
static int send_to(char *argv[], int by)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[0])) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	char *text = in_memory(argv[1]);
	struct iovec vector = { text, strlen(text) };
	struct mmsghdr message = { .msg_hdr = { .msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &vector, .msg_iovlen = 1 } };
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	start(&text, 1);
	for (int i = 0; goes_on(i); i++) {
		if (by == 0)
			sendto(fd, text, strlen(argv[1]), MSG_DONTWAIT, (struct sockaddr *)&to, sizeof to);
		else if (by == 1)
			sendmsg(fd, &message.msg_hdr, MSG_DONTWAIT);
		else
			sendmmsg(fd, &message, 1, MSG_DONTWAIT);
	}
	return 0;
}

/* FILE ATTRIBUTE */
static int set_attribute(char *argv[])
{
	char *name = in_memory(argv[1]), list[ROOM];
	start(&name, 1);
	for (int i = 0; goes_on(i); i++) {
		setxattr(argv[0], name, "x", 1, 0);
		ssize_t length = listxattr(argv[0], list, sizeof list);
		if (length > 0 && memmem(list, (size_t)length, bad, strlen(bad)) != NULL)
			return told(i);
	}
	return 0;
}

/* LINK TARGET */
static int make_link(char *argv[])
{
	char *target = in_memory(argv[1]), found[ROOM];
	start(&target, 1);
	for (int i = 0; goes_on(i); i++) {
		unlink(argv[0]);
		if (symlink(target, argv[0]) < 0)
			continue;
		ssize_t length = readlink(argv[0], found, sizeof found);
		if (length > 0 && memmem(found, (size_t)length, bad, strlen(bad)) != NULL)
			return told(i);
	}
	return 0;
}

int main(int argc, char *argv[])
{
	static const char *const HOW[] = { "sendto", "sendmsg", "sendmmsg" };
	if (argc < 7)
		return 2;
	most = atoi(argv[2]);
	good = argv[3];
	bad = argv[4];
	for (int by = 0; by < 3; by++)
		if (strcmp(argv[1], HOW[by]) == 0)
			return send_to(argv + 5, by);
	if (strcmp(argv[1], "setxattr") == 0)
		return set_attribute(argv + 5);
	if (strcmp(argv[1], "symlink") == 0)
		return make_link(argv + 5);
	return strcmp(argv[1], "execve") == 0 && argc == 8 ? execute(argv + 5) : 2;
}
