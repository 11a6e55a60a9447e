/*
 * The keeper: see keep.h. To the supervisor it speaks as the launcher does: how the process ended, and that nobody is
 * left. It decides nothing; what it answers is always "go on".
 */
#define _GNU_SOURCE
#include "keep.h"
#include "plan.h"
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { REPEAT_MS = 10, STATUS_UNKNOWN = -1, OUT_OF_THE_WAY = 20 };

struct keeper {
	struct keep *keep;
	int socket;   /* -1 once the supervisor has gone */
	int listener; /* -1 until it is given to us */
	int pidfd;    /* -1 once the process has ended */
	int signals;
	int unheard;
	int over;
	int told; /* that it is over */
};

static void tell(struct keeper *k, enum launcher_message kind, int value)
{
	struct message message = { kind, value };
	if (k->socket >= 0 && send(k->socket, &message, sizeof message, MSG_NOSIGNAL) == (ssize_t)sizeof message)
		k->unheard++;
}

/* A signal that arrives just before the worker blocks is lost, so it is repeated until we are heard. */
static void nudge(const struct keeper *k)
{
	syscall(SYS_tgkill, k->keep->supervisor, k->keep->worker, k->keep->wake_signal);
}

/* ------------------------------------------------------------------ the calls */

static void let_happen(struct keeper *k, uint64_t id)
{
	struct seccomp_notif_resp response = { .id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	while (ioctl(k->listener, SECCOMP_IOCTL_NOTIF_SEND, &response) < 0 && errno == EINTR)
		;
}

/* What the supervisor had received and not answered. One that it did answer is not waited for any more: no harm. */
static void take_over(struct keeper *k)
{
	struct keep *keep = k->keep;
	close(k->socket);
	k->socket = -1;
	k->unheard = 0;
	atomic_store(&keep->alone, 1);
	if (k->listener < 0)
		return;
	if (keep->inbox.id != 0)
		let_happen(k, keep->inbox.id);
	for (unsigned int i = 0; i < MAX_HELD; i++) {
		uint64_t id = atomic_exchange(&keep->held[i], 0);
		if (id != 0)
			let_happen(k, id);
	}
}

static void receive(struct keeper *k)
{
	struct seccomp_notif *request = &k->keep->inbox;
	memset(request, 0, sizeof *request); /* the kernel refuses a request that is not zeroed */
	if (ioctl(k->listener, SECCOMP_IOCTL_NOTIF_RECV, request) == 0)
		let_happen(k, request->id);
}

/* ------------------------------------------------------------------ the process's end */

/* Linux 6.15 tells how a process ended to whoever has a pidfd of it, also when its parent has taken notice. */
struct exit_info {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t ids[11]; /* pids and credentials */
	int32_t exit_code;
};
#define ASK_EXIT_INFO _IOWR(0xFF, 11, struct exit_info)

static int status_by_pidfd(int pidfd)
{
	struct exit_info info = { .mask = 1 << 3 /* PIDFD_INFO_EXIT */ };
	if (ioctl(pidfd, ASK_EXIT_INFO, &info) < 0 || !(info.mask & 1 << 3))
		return STATUS_UNKNOWN;
	return info.exit_code;
}

/* proc(5): the last field of a zombie's stat. */
static int status_by_proc(int pid)
{
	char path[64], text[2048], state;
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return STATUS_UNKNOWN;
	ssize_t size = read(fd, text, sizeof text - 1);
	close(fd);
	if (size <= 0)
		return STATUS_UNKNOWN;
	text[size] = 0;
	char *rest = strrchr(text, ')'), *last = strrchr(text, ' ');
	if (rest == NULL || last == NULL || sscanf(rest, ") %c", &state) != 1 || state != 'Z')
		return STATUS_UNKNOWN;
	return atoi(last);
}

static void process_ended(struct keeper *k)
{
	int status = status_by_proc(k->keep->pid);
	if (status == STATUS_UNKNOWN)
		status = status_by_pidfd(k->pidfd);
	close(k->pidfd);
	k->pidfd = -1;
	tell(k, SAY_MAIN_EXIT, status);
}

/* ------------------------------------------------------------------ the supervisor's word */

/* The listener comes with the one message that is more than a word. */
static void hear_supervisor(struct keeper *k)
{
	struct message message;
	struct iovec bytes = { &message, sizeof message };
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr header = { .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control,
				 .msg_controllen = sizeof control };
	ssize_t size = recvmsg(k->socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size != (ssize_t)sizeof message) {
		take_over(k);
		return;
	}
	if (message.kind == TELL_HEARD && k->unheard > 0)
		k->unheard--; /* each is heard by itself: what is still unread must be nudged for */
	struct cmsghdr *with = CMSG_FIRSTHDR(&header);
	if (with == NULL || with->cmsg_type != SCM_RIGHTS || k->listener >= 0)
		return;
	int fd;
	memcpy(&fd, CMSG_DATA(with), sizeof fd);
	k->listener = dup3(fd, KEPT_LISTENER, O_CLOEXEC);
	close(fd);
	tell(k, SAY_STARTED, 0);
}

/* Only what cannot be meant otherwise ends a keeper: whoever shuts the machine down does not mean to harm the program. */
static int is_relieved(struct keeper *k)
{
	struct signalfd_siginfo got;
	int relieved = 0;
	while (read(k->signals, &got, sizeof got) == (ssize_t)sizeof got)
		relieved |= (int)got.ssi_signo == HAND_OVER_SIGNAL;
	return relieved && k->socket < 0;
}

static int serve(struct keeper *k)
{
	for (;;) {
		struct pollfd fds[4] = { { k->socket, POLLIN, 0 }, { k->signals, POLLIN, 0 }, { k->pidfd, POLLIN, 0 },
					 { k->over ? -1 : k->listener, k->socket < 0 ? POLLIN : 0, 0 } };
		if (poll(fds, 4, k->unheard ? REPEAT_MS : -1) < 0 && errno != EINTR)
			return 1;
		if (fds[0].revents)
			hear_supervisor(k);
		if (fds[1].revents && is_relieved(k))
			return 0;
		if (fds[2].revents)
			process_ended(k);
		if (fds[3].revents & (POLLHUP | POLLERR)) /* nobody is left who has the filter */
			k->over = 1;
		else if (fds[3].revents & POLLIN && k->socket < 0)
			receive(k);
		/* A filter goes a moment before its process does. */
		if (k->over && k->pidfd < 0 && !k->told) {
			k->told = 1;
			tell(k, SAY_OVER, 0);
		}
		if (k->socket < 0 && (k->over || k->listener < 0))
			return 0;
		if (k->unheard)
			nudge(k);
	}
}

static struct keep *map_memory(int fd)
{
	struct stat info;
	if (fstat(fd, &info) < 0 || (size_t)info.st_size < sizeof(struct keep))
		return NULL;
	struct keep *keep = mmap(NULL, sizeof *keep, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return keep == MAP_FAILED || keep->magic != KEEP_MAGIC ? NULL : keep;
}

int keep_main(int argc, char **argv)
{
	struct keeper k = { .listener = -1 };
	sigset_t every;
	if (argc != 5)
		return 2;
	sigfillset(&every);
	sigprocmask(SIG_SETMASK, &every, NULL);
	k.socket = fcntl(atoi(argv[2]), F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
	int memory = fcntl(atoi(argv[3]), F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
	k.pidfd = fcntl(atoi(argv[4]), F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
	k.keep = map_memory(memory);
	if (k.keep == NULL || dup3(memory, KEPT_MEMORY, O_CLOEXEC) < 0)
		return 125;
	/* What the program or HERMES have open is none of ours, nor is the terminal, nor a folder that may be unmounted. */
	int32_t own[] = { k.socket, k.pidfd, KEPT_MEMORY };
	if (close_all_but(0, own, 3) < 0 || setsid() < 0 || chdir("/") < 0)
		return 125;
	prctl(PR_SET_NAME, "hermes-keep", 0, 0, 0);
	k.signals = signalfd(-1, &every, SFD_CLOEXEC | SFD_NONBLOCK);
	if (k.signals < 0)
		return 125;
	return serve(&k);
}
