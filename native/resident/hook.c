/*
 * `hermes hook` in milliseconds: the resident process judges, and this program is its caller's side. It writes nothing before it
 * has the whole answer. Whatever fails before that, Node judges here, on the same input.
 */
#define _GNU_SOURCE
#include "hook.h"
#include "../kernel/exchange.h"
#include "../kernel/fd-message.h"
#include "../kernel/place.h"
#include "../protocol/resident.h"
#include "socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A stand-in that is free takes a caller at once. Where many come at once they wait for their turn, which comes sooner than their
 * own Nodes would be ready. A resident process that is stopped (SIGSTOP) is not waited for.
 */
enum { LONGEST_S = 20, TURN_MS = 5000, LOOK_MS = 200, REPLY_MS = 3000 };
/* The longest input that Node reads, and one more byte, by which it sees that the input is too long. */
enum { LONGEST_INPUT = 64 * 1024 * 1024 + 1, PIECE = 64 * 1024 };
enum { BLOCKED = 2 };

extern char **environ;

/* `first`: no resident process listens, and Node may start one when it has answered. */
static int run_node(const char *main, char **words, int first)
{
	enum { FIRST = 6 };
	size_t count = 0;
	while (words[count] != NULL)
		count++;
	char **argv = calloc(FIRST + count + 2, sizeof *argv);
	if (argv == NULL)
		return BLOCKED;
	alarm(0); /* timeout(1) limits the time from here on */
	char *const node[FIRST] = { "timeout", "-k", "1", "20", "node", (char *)main };
	memcpy(argv, node, sizeof node);
	memcpy(argv + FIRST, words, count * sizeof *argv);
	if (first)
		argv[FIRST + count] = "--start-resident";
	execvp(argv[0], argv);
	fprintf(stderr, "hermes: cannot start timeout(1): %s\n", strerror(errno));
	return BLOCKED;
}

/* All of stdin in memory that can be read again: its size, or -1. From then on it is stdin. */
static ssize_t keep_input(void)
{
	static char piece[PIECE];
	int fd = memfd_create("hermes-hook", MFD_CLOEXEC);
	ssize_t got = 0, size = 0;
	if (fd < 0)
		return -1;
	while (size < LONGEST_INPUT && ((got = read(0, piece, sizeof piece)) > 0 || (got < 0 && errno == EINTR))) {
		for (ssize_t done = 0; done < got;) {
			ssize_t written = write(fd, piece + done, (size_t)(got - done));
			if (written <= 0)
				exit(BLOCKED); /* part of the input is lost */
			done += written;
		}
		size += got > 0 ? got : 0;
	}
	if (got < 0 || lseek(fd, 0, SEEK_SET) < 0 || dup2(fd, 0) < 0)
		exit(BLOCKED);
	close(fd);
	return size;
}

static size_t size_of(char **texts)
{
	size_t size = 0;
	for (size_t i = 0; texts[i] != NULL; i++)
		size += strlen(texts[i]) + 1;
	return size;
}

static int send_texts(int socket, char **texts, int64_t until)
{
	for (size_t i = 0; texts[i] != NULL; i++)
		if (send_all(socket, texts[i], strlen(texts[i]) + 1, until) < 0)
			return -1;
	return 0;
}

static int wait_for_turn(int socket, pid_t listener)
{
	struct pollfd said = { socket, POLLIN, 0 };
	for (int64_t until = now_ms() + TURN_MS; now_ms() < until;) {
		int ready = poll(&said, 1, LOOK_MS);
		if (ready > 0)
			return 0;
		if ((ready < 0 && errno != EINTR) || process_is_stopped(listener))
			return -1;
	}
	return -1;
}

/* The other side may look into us: it is no process behind a fence that poses as the resident one. */
static int hear_hello(int socket, pid_t listener)
{
	struct hello hello;
	char theirs[MAX_SIGHT], ours[MAX_SIGHT];
	ssize_t size = sight_of(getpid(), ours, sizeof ours);
	if (wait_for_turn(socket, listener) < 0)
		return -1;
	int64_t until = now_ms() + REPLY_MS;
	if (receive_all(socket, &hello, sizeof hello, until) < 0 || hello.magic != RESIDENT_MAGIC || size <= 0 ||
	    hello.sight_size != (size_t)size || receive_all(socket, theirs, (size_t)size, until) < 0)
		return -1;
	return memcmp(ours, theirs, (size_t)size) == 0 ? 0 : -1;
}

static int send_request(int socket, pid_t listener, char **words, size_t input_size, int64_t until)
{
	char sight[MAX_SIGHT];
	ssize_t sight_size = sight_of(listener, sight, sizeof sight);
	const size_t words_size = size_of(words), environment_size = size_of(environ);
	if (sight_size <= 0 || words_size > MAX_WORDS || environment_size > MAX_ENVIRONMENT || input_size > MAX_INPUT)
		return -1;
	mode_t mask = umask(0);
	umask(mask);
	struct request request = { RESIDENT_MAGIC,	 mask, (uint32_t)sight_size, (uint32_t)words_size,
				   (uint32_t)environment_size, (uint32_t)input_size };
	void *input = input_size == 0 ? NULL : mmap(NULL, input_size, PROT_READ, MAP_PRIVATE, 0, 0);
	int folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (input == MAP_FAILED || folder < 0)
		return -1;
	struct iovec part = { &request, sizeof request };
	int failed = fd_message_send(socket, &part, 1, folder);
	close(folder);
	return failed < 0 || send_all(socket, sight, (size_t)sight_size, until) < 0 || send_texts(socket, words, until) < 0 ||
			       send_texts(socket, environ, until) < 0 || send_all(socket, input, input_size, until) < 0
		       ? -1
		       : 0;
}

static int write_all(int fd, const char *from, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t written = write(fd, from + done, size - done);
		if (written > 0)
			done += (size_t)written;
		else if (errno == EAGAIN)
			usleep(1000);
		else if (errno != EINTR)
			return -1;
	}
	return 0;
}

/* The exit status; -1: there is no answer. */
static int pass_reply(int socket, int64_t until)
{
	struct reply reply;
	if (receive_all(socket, &reply, sizeof reply, until) < 0 || reply.magic != RESIDENT_MAGIC ||
	    (reply.status != 0 && reply.status != BLOCKED) || reply.stdout_size > MAX_REPLY || reply.stderr_size > MAX_REPLY)
		return -1;
	const size_t size = (size_t)reply.stdout_size + reply.stderr_size;
	char *text = malloc(size + 1);
	if (text == NULL || receive_all(socket, text, size, until) < 0) {
		free(text);
		return -1;
	}
	/* A refusal without its reason still is one. An answer that is not written whole is none. */
	write_all(2, text + reply.stdout_size, reply.stderr_size);
	int failed = write_all(1, text, reply.stdout_size);
	free(text);
	return failed ? BLOCKED : (int)reply.status;
}

/* The exit status, or -1; *absent: none listens, as after a kill. */
static int ask(const struct place *place, char **words, size_t input_size, int *absent)
{
	pid_t listener;
	int socket = sight_offer() == 0 ? place_connect(place, &listener) : -1; /* it is looked at as soon as we have connected */
	int status = -1;
	*absent = socket == -ECONNREFUSED;
	if (socket < 0)
		return -1;
	if (in_same_place(listener, getpid()) && hear_hello(socket, listener) == 0) {
		const int64_t until = now_ms() + REPLY_MS;
		if (send_request(socket, listener, words, input_size, until) == 0)
			status = pass_reply(socket, until);
	}
	close(socket);
	return status;
}

static int is_set(const char *name)
{
	const char *value = getenv(name);
	return value != NULL && *value;
}

static int is_forbidden(char **words)
{
	for (; *words != NULL; words++)
		if (strcmp(*words, "--no-resident") == 0)
			return 1;
	return is_set("HERMES_NO_RESIDENT");
}

/* Nobody cleans up behind a build of CI's, and a session that HERMES supervises ends when all of its processes have. */
static int may_start(void)
{
	return !is_set("CI") && !is_supervised();
}

/* A caller that never ends its input, for one: the signal ends us, and our shell makes a refusal of that. */
static void limit_time(void)
{
	sigset_t ours;
	sigemptyset(&ours);
	sigaddset(&ours, SIGALRM);
	signal(SIGALRM, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &ours, NULL);
	alarm(LONGEST_S);
}

int hook_main(const char *main, char **words)
{
	struct place place;
	struct stat info;
	if (is_forbidden(words))
		return run_node(main, words, 0);
	int failed = place_open(&place, 0), absent;
	if (failed == -ENOENT || (!failed && fstatat(place.folder, place.name, &info, AT_SYMLINK_NOFOLLOW) < 0))
		return run_node(main, words, may_start());
	if (failed)
		return run_node(main, words, 0);
	limit_time();
	ssize_t size = keep_input();
	int status = size >= 0 ? ask(&place, words, (size_t)size, &absent) : -1;
	if (status >= 0)
		return status;
	lseek(0, 0, SEEK_SET);
	close(place.folder);
	return run_node(main, words, size >= 0 && absent && may_start());
}
