/* See stand-ins.h. */
#define _GNU_SOURCE
#include "stand-ins.h"
#include "../kernel/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_FAILURES = 3, SPARE_MS = 30 * 1000, END_MS = 10 * 1000 };
/* A call takes milliseconds. One that takes this long is not waited for by its caller any more. */
enum { STUCK_MS = 60 * 1000 };

static void become_stand_in(const struct stand_ins *all, int control, pid_t parent)
{
	char *const argv[] = { (char *)all->node, (char *)all->program, NULL };
	char *const envp[] = { "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	sigset_t none;
	sigemptyset(&none);
	/* Copies above the numbers that they get, as one may be the number of the other. */
	int listener = fcntl(all->listener, F_DUPFD_CLOEXEC, 10);
	control = fcntl(control, F_DUPFD_CLOEXEC, 10);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (listener < 0 || control < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 ||
	    dup2(listener, STAND_IN_LISTENER) < 0 || dup2(control, STAND_IN_CONTROL) < 0)
		_exit(125);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != parent)
		_exit(125);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(all->node, argv, envp);
	_exit(127);
}

static void start(struct stand_ins *all, struct stand_in *one)
{
	int ends[2];
	pid_t parent = getpid();
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		all->failures++;
		return;
	}
	pid_t pid = fork();
	if (pid == 0)
		become_stand_in(all, ends[1], parent);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		all->failures++;
		return;
	}
	*one = (struct stand_in){ pid, ends[0], STARTING, now_ms() };
}

static void let_go(struct stand_in *one)
{
	if (one->control >= 0)
		close(one->control);
	one->control = -1;
}

int stand_ins_keep(struct stand_ins *all)
{
	struct stand_in *empty = NULL, *spare = NULL;
	int ready = 0;
	for (struct stand_in *one = all->all; one < all->all + MOST_STAND_INS; one++) {
		const int64_t age = now_ms() - one->since;
		if (one->pid == 0) {
			empty = one;
		} else if (one->state == BUSY && age > STUCK_MS) {
			kill(one->pid, SIGKILL);
		} else if (one->state != BUSY && one->control >= 0) {
			spare = one->state == FREE && age > SPARE_MS ? one : spare;
			ready++;
		}
	}
	if (ready > 1 && spare != NULL)
		let_go(spare);
	if (ready == 0 && empty != NULL)
		start(all, empty);
	return all->failures < MOST_FAILURES ? 0 : -1;
}

size_t stand_ins_poll(const struct stand_ins *all, struct pollfd *fds)
{
	size_t count = 0;
	for (int i = 0; i < MOST_STAND_INS; i++)
		if (all->all[i].pid != 0 && all->all[i].control >= 0)
			fds[count++] = (struct pollfd){ all->all[i].control, POLLIN, 0 };
	return count;
}

static int hear(struct stand_ins *all, struct stand_in *one)
{
	char said[64];
	ssize_t size;
	int used = 0;
	while (one->control >= 0 && (size = recv(one->control, said, sizeof said, MSG_DONTWAIT)) > 0) {
		used |= memchr(said, SAYS_BUSY, (size_t)size) != NULL;
		one->state = said[size - 1] == SAYS_FREE ? FREE : BUSY;
		one->since = now_ms();
		all->failures = 0;
	}
	return used;
}

static void reap(struct stand_ins *all)
{
	pid_t pid;
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (struct stand_in *one = all->all; one < all->all + MOST_STAND_INS; one++)
			if (one->pid == pid) {
				all->failures += one->state == STARTING;
				let_go(one);
				one->pid = 0;
			}
}

int stand_ins_hear(struct stand_ins *all)
{
	int used = 0;
	for (struct stand_in *one = all->all; one < all->all + MOST_STAND_INS; one++)
		if (one->pid != 0)
			used |= hear(all, one);
	reap(all);
	return used;
}

void stand_ins_end(struct stand_ins *all)
{
	const int64_t until = now_ms() + END_MS;
	for (struct stand_in *one = all->all; one < all->all + MOST_STAND_INS; one++)
		if (one->pid != 0)
			let_go(one);
	for (;;) {
		int left = 0;
		reap(all);
		for (int i = 0; i < MOST_STAND_INS; i++)
			left += all->all[i].pid != 0;
		if (left == 0 || now_ms() > until)
			return; /* those that are left die with us */
		usleep(5000);
	}
}
