/*
 * The resident process of a user: it listens, and keeps stand-ins. A stand-in is a process of Node's that has everything loaded. It
 * accepts one caller after the other from the socket that it has inherited, and says by a byte whether it is free. This process
 * never speaks with a caller, reads nothing for one, and holds no secret: callers may look into it (kernel/place.h).
 *
 * When it dies, its stand-ins die. When it is asked to end (SIGTERM), they finish what they are doing.
 */
#define _GNU_SOURCE
#include "serve.h"
#include "../kernel/exchange.h"
#include "../kernel/place.h"
#include "socket.h"
#include "stand-ins.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK ".lock"

enum { BACKLOG = 1024, LOOK_MS = 2000, FAILED = 125 };

/* Only one process of a build listens in a folder. The kernel lets go of the lock when we die. */
static int take_lock(const struct place *place)
{
	char name[sizeof place->name + 8];
	snprintf(name, sizeof name, "%s%s", place->name, LOCK);
	int fd = openat(place->folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : -1;
}

static int listen_at(const struct place *place)
{
	struct sockaddr_un address = place_address(place, place->name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	unlinkat(place->folder, place->name, 0); /* of one that was killed: we have the lock */
	umask(077);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, BACKLOG) < 0)
		return -1;
	return fd;
}

/* What builds leave behind that are gone: their processes hold no lock any more. */
static void remove_old(const struct place *place)
{
	DIR *list = fdopendir(openat(place->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *entry;
	while (list != NULL && (entry = readdir(list)) != NULL) {
		size_t length = strlen(entry->d_name), suffix = strlen(LOCK);
		if (length <= suffix || strcmp(entry->d_name + length - suffix, LOCK) != 0)
			continue;
		int fd = openat(place->folder, entry->d_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) { /* never our own, which we hold */
			unlinkat(place->folder, entry->d_name, 0);
			entry->d_name[length - suffix] = 0;
			unlinkat(place->folder, entry->d_name, 0);
		}
		if (fd >= 0)
			close(fd);
	}
	if (list != NULL)
		closedir(list);
}

/* Whether callers still find us: the folder, or the socket in it, may have been removed. */
static int is_there(const struct place *place, const struct stat *socket)
{
	struct stat now;
	return fstatat(place->folder, place->name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == socket->st_ino &&
	       now.st_dev == socket->st_dev;
}

static int ending_signals(void)
{
	sigset_t set;
	sigemptyset(&set);
	for (const int *signal = (const int[]){ SIGTERM, SIGINT, SIGHUP, SIGCHLD, 0 }; *signal; signal++)
		sigaddset(&set, *signal);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Whether a signal asks us to end. */
static int asked_to_end(int signals)
{
	struct signalfd_siginfo info;
	int end = 0;
	while (read(signals, &info, sizeof info) == (ssize_t)sizeof info)
		end |= info.ssi_signo != SIGCHLD;
	return end;
}

static void serve(const struct place *place, struct stand_ins *all, int signals, int64_t idle_ms)
{
	struct stat socket;
	int64_t used = now_ms();
	if (fstatat(place->folder, place->name, &socket, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	while (stand_ins_keep(all) == 0) {
		struct pollfd fds[MOST_STAND_INS + 1];
		size_t count = stand_ins_poll(all, fds);
		fds[count] = (struct pollfd){ signals, POLLIN, 0 };
		if (poll(fds, count + 1, LOOK_MS) < 0 && errno != EINTR)
			return;
		if (asked_to_end(signals) || !is_there(place, &socket))
			return;
		if (stand_ins_hear(all))
			used = now_ms();
		if (now_ms() - used > idle_ms)
			return;
	}
}

int serve_main(const char *node, const char *stand_in, int idle_seconds)
{
	struct place place;
	if (is_supervised() || sight_offer() < 0 || place_open(&place, 1) < 0 || take_lock(&place) < 0)
		return FAILED;
	int listener = listen_at(&place), signals = ending_signals();
	if (listener < 0 || signals < 0 || chdir("/") < 0)
		return FAILED;
	remove_old(&place);
	struct stand_ins all = { .node = node, .program = stand_in, .listener = listener };
	serve(&place, &all, signals, (int64_t)idle_seconds * 1000);
	/* New callers do it themselves from now on. Those that wait are told by the closed socket. */
	unlinkat(place.folder, place.name, 0);
	close(listener);
	stand_ins_end(&all);
	return 0;
}
