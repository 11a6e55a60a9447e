/*
 * The keeper (protocol/keeper.h). To the supervisor it speaks the launcher's protocol: how the process ended, and that no
 * process is left. It decides nothing: it lets every call continue.
 */
#define _GNU_SOURCE
#include "keeper.h"
#include "../kernel/fd-message.h"
#include "../kernel/notification.h"
#include "../kernel/procfs.h"
#include "../protocol/keeper.h"
#include "../protocol/plan.h"
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
	struct keeper_memory *memory;
	int socket;   /* -1 once the supervisor has closed it */
	int listener; /* -1 until the supervisor has sent it */
	int pidfd;    /* -1 once the process has ended */
	int signals;
	int unacknowledged;
	int over;
	int over_reported; /* the supervisor has been told that the session is over */
};

static void send_message(struct keeper *k, enum launcher_message kind, int value)
{
	struct message message = { kind, value };
	if (k->socket >= 0 && send(k->socket, &message, sizeof message, MSG_NOSIGNAL) == (ssize_t)sizeof message)
		k->unacknowledged++;
}

/* A signal that arrives just before the worker blocks is lost, so it is repeated until the worker acknowledges. */
static void nudge(const struct keeper *k)
{
	syscall(SYS_tgkill, k->memory->supervisor, k->memory->worker, k->memory->wake_signal);
}

/* ------------------------------------------------------------------ the calls */

/* Continues the calls that the supervisor had received and not answered. Continuing one that was answered has no effect. */
static void take_over(struct keeper *k)
{
	struct keeper_memory *memory = k->memory;
	close(k->socket);
	k->socket = -1;
	k->unacknowledged = 0;
	atomic_store(&memory->alone, 1);
	if (k->listener < 0)
		return;
	if (memory->inbox.id != 0)
		notification_continue(k->listener, memory->inbox.id);
	for (unsigned int i = 0; i < MAX_HELD; i++) {
		uint64_t id = atomic_exchange(&memory->held[i], 0);
		if (id != 0)
			notification_continue(k->listener, id);
	}
}

static void receive(struct keeper *k)
{
	struct seccomp_notif *request = &k->memory->inbox;
	if (notification_receive(k->listener, request) == 0)
		notification_continue(k->listener, request->id);
}

/* ------------------------------------------------------------------ the process's end */

/* Linux 6.15 reports by a pidfd how a process ended, even after its parent has reaped it. */
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
	char text[2048], state;
	if (procfs_text(pid, "stat", text, sizeof text) <= 0)
		return STATUS_UNKNOWN;
	char *rest = strrchr(text, ')'), *last = strrchr(text, ' ');
	if (rest == NULL || last == NULL || sscanf(rest, ") %c", &state) != 1 || state != 'Z')
		return STATUS_UNKNOWN;
	return atoi(last);
}

static void process_ended(struct keeper *k)
{
	int status = status_by_proc(k->memory->pid);
	if (status == STATUS_UNKNOWN)
		status = status_by_pidfd(k->pidfd);
	close(k->pidfd);
	k->pidfd = -1;
	send_message(k, LAUNCHER_MAIN_EXIT, status);
}

/* ------------------------------------------------------------------ messages of the supervisor */

/* One message carries the listener. */
static void read_supervisor(struct keeper *k)
{
	struct message message;
	int descriptor = -1;
	ssize_t size = fd_message_receive(k->socket, &message, sizeof message, MSG_DONTWAIT, &descriptor);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size != (ssize_t)sizeof message) {
		take_over(k);
		return;
	}
	if (message.kind == SUPERVISOR_ACK && k->unacknowledged > 0)
		k->unacknowledged--; /* the supervisor acknowledges each message: for those still unread it must be nudged */
	if (descriptor < 0 || k->listener >= 0)
		return;
	k->listener = dup3(descriptor, KEEPER_LISTENER_FD, O_CLOEXEC);
	close(descriptor);
	send_message(k, LAUNCHER_STARTED, 0);
}

/* Only HAND_OVER_SIGNAL ends a keeper. SIGTERM at a shutdown must not, because the program's calls would fail. */
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
		if (poll(fds, 4, k->unacknowledged ? REPEAT_MS : -1) < 0 && errno != EINTR)
			return 1;
		if (fds[0].revents)
			read_supervisor(k);
		if (fds[1].revents && is_relieved(k))
			return 0;
		if (fds[2].revents)
			process_ended(k);
		if (fds[3].revents & (POLLHUP | POLLERR)) /* no process has the filter any more */
			k->over = 1;
		else if (fds[3].revents & POLLIN && k->socket < 0)
			receive(k);
		/* The kernel releases a filter a moment before its process ends. */
		if (k->over && k->pidfd < 0 && !k->over_reported) {
			k->over_reported = 1;
			send_message(k, LAUNCHER_OVER, 0);
		}
		if (k->socket < 0 && (k->over || k->listener < 0))
			return 0;
		if (k->unacknowledged)
			nudge(k);
	}
}

static struct keeper_memory *map_memory(int fd)
{
	struct stat info;
	if (fstat(fd, &info) < 0 || (size_t)info.st_size < sizeof(struct keeper_memory))
		return NULL;
	struct keeper_memory *memory = mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return memory == MAP_FAILED || memory->magic != KEEPER_MAGIC ? NULL : memory;
}

int keeper_main(int argc, char **argv)
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
	k.memory = map_memory(memory);
	if (k.memory == NULL || dup3(memory, KEEPER_MEMORY_FD, O_CLOEXEC) < 0)
		return 125;
	/*
	 * Close everything inherited from HERMES, and leave its terminal and its working directory, which may be
	 * unmounted.
	 */
	int32_t own[] = { k.socket, k.pidfd, KEEPER_MEMORY_FD };
	if (close_all_but(0, own, 3) < 0 || setsid() < 0 || chdir("/") < 0)
		return 125;
	prctl(PR_SET_NAME, "hermes-keep", 0, 0, 0);
	k.signals = signalfd(-1, &every, SFD_CLOEXEC | SFD_NONBLOCK);
	if (k.signals < 0)
		return 125;
	return serve(&k);
}
