/*
 * Attaching: all threads are stopped for a moment, one of them is made to install the filter, the listener is taken out
 * of it, and they go on where they were. Leaving is the same without a filter. Without a filter, every call stops.
 */
#define _GNU_SOURCE
#include "attach.h"
#include "change.h"

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

enum { RESTS = 1, RESTS_STOPPED = 2, SYSCALL_STOP = SIGTRAP | 0x80, STOP_TURNS = 5000, TURN_US = 1000, STATUS_UNKNOWN = -1 };

static int failure(enum attach_step step, int failed)
{
	return -(int)(step * 4096 - failed);
}

/* ------------------------------------------------------------------ seizing */

static int is_ours(pid_t tid)
{
	char path[64], line[128];
	int tracer = 0;
	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	FILE *status = fopen(path, "re");
	while (status != NULL && fgets(line, sizeof line, status) != NULL)
		if (sscanf(line, "TracerPid: %d", &tracer) == 1)
			break;
	if (status != NULL)
		fclose(status);
	return tracer == getpid();
}

/* Returns how many were new, or -errno. A thread that ended meanwhile is nobody's loss. */
static int seize_new(struct session *s, pid_t pid)
{
	char path[64];
	int fresh = 0, failed = 0;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	if (tasks == NULL)
		return -ESRCH;
	for (struct dirent *entry; !failed && (entry = readdir(tasks)) != NULL;) {
		pid_t tid = atoi(entry->d_name);
		if (tid <= 0 || tracee_find(s, tid) != NULL)
			continue;
		failed = trace_seize(s, tid);
		if (failed == 0) {
			fresh++;
			continue;
		}
		int ours = failed == -EPERM && is_ours(tid); /* born of one that we have: it tells of itself */
		if (!ours)
			tracee_forget(s, tid);
		if (failed == -ESRCH || ours || (failed == -EPERM && s->tracee_count > 0))
			failed = 0;
	}
	closedir(tasks);
	return failed ? failed : fresh;
}

static int seize_all(struct session *s, pid_t pid)
{
	int fresh;
	while ((fresh = seize_new(s, pid)) > 0)
		;
	return fresh < 0 ? fresh : s->tracee_count > 0 ? 0 : -ESRCH;
}

/* ------------------------------------------------------------------ stopping */

static void for_each(struct session *s, void (*act)(struct session *, struct tracee *))
{
	for (int i = 0; i < TRACEE_BUCKETS; i++)
		for (struct tracee *t = s->tracees[i], *next; t != NULL; t = next) {
			next = t->next;
			act(s, t);
		}
}

static void interrupt(struct session *s, struct tracee *t)
{
	(void)s;
	if (!t->rests)
		ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
}

static int all_rest(struct session *s)
{
	for (int i = 0; i < TRACEE_BUCKETS; i++)
		for (struct tracee *t = s->tracees[i]; t != NULL; t = t->next)
			if (!t->rests)
				return 0;
	return 1;
}

/* Whatever it stopped for, it is asked again, until it rests as one does who was interrupted. */
static void rest(struct session *s, pid_t tid, int status)
{
	struct tracee *t = tracee_find_or_add(s, tid);
	if (t == NULL || !WIFSTOPPED(status)) {
		tracee_forget(s, tid);
		return;
	}
	int number = WSTOPSIG(status), what = status >> 16;
	if (what == PTRACE_EVENT_STOP) {
		t->rests = number == SIGTRAP ? RESTS : RESTS_STOPPED;
		return;
	}
	if (what == 0 && number != SYSCALL_STOP)
		inject_undo_interruption(tid, number);
	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	ptrace(PTRACE_CONT, tid, 0, (long)(what == 0 && number != SYSCALL_STOP ? number : 0));
}

/* One that waits for a child after vfork, or for a device, cannot be stopped before that is over. */
static int stop_all(struct session *s)
{
	for_each(s, interrupt);
	for (int turn = 0; turn < STOP_TURNS; turn++) {
		int status;
		pid_t tid;
		while ((tid = waitpid(-1, &status, __WALL | __WNOTHREAD | WNOHANG)) > 0)
			if (tid == s->launcher)
				s->launcher = 0;
			else
				rest(s, tid, status);
		if (s->tracee_count == 0)
			return -ESRCH;
		if (all_rest(s))
			return 0;
		usleep(TURN_US);
	}
	return -ETIMEDOUT;
}

static void go_on(struct session *s, struct tracee *t)
{
	int stopped = t->rests == RESTS_STOPPED;
	(void)s;
	t->rests = 0;
	if (stopped) { /* by job control: it stays so until SIGCONT */
		ptrace(PTRACE_LISTEN, t->tid, 0, 0);
		return;
	}
	inject_undo_interruption(t->tid, 0);
	resume(t, 0);
}

static void go_on_followed(struct session *s, struct tracee *t)
{
	trace_follow(t);
	go_on(s, t);
}

static void release(struct session *s, struct tracee *t)
{
	if (t->rests == RESTS)
		inject_undo_interruption(t->tid, 0);
	ptrace(PTRACE_DETACH, t->tid, 0, 0);
	tracee_forget(s, t->tid);
}

/* ------------------------------------------------------------------ the filter */

/* One that is in a call if there is one, since it is safe for sure. */
static pid_t whom_to_use(struct session *s)
{
	for (int i = 0; i < TRACEE_BUCKETS; i++)
		for (struct tracee *t = s->tracees[i]; t != NULL; t = t->next)
			if (inject_is_safe(t->tid))
				return t->tid;
	return 0;
}

/* Running threads may all be in restartable sequences for a moment. */
static int find_whom(struct session *s, pid_t *tid)
{
	for (int turn = 0; (*tid = whom_to_use(s)) == 0; turn++) {
		if (turn == 100)
			return -EAGAIN;
		for_each(s, go_on);
		usleep(TURN_US);
		int failed = stop_all(s);
		if (failed)
			return failed;
	}
	return 0;
}

static int64_t install(struct injection *i, const struct attach_order *order, uint64_t memory)
{
	struct {
		struct sock_fprog program;
	} head = { { (unsigned short)(order->filter_size / sizeof(struct sock_filter)),
		     (struct sock_filter *)(uintptr_t)(memory + sizeof head) } };
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC |
			      SECCOMP_FILTER_FLAG_TSYNC_ESRCH | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	int failed = memory_write(i->tid, memory, &head, sizeof head);
	if (!failed)
		failed = memory_write(i->tid, memory + sizeof head, order->filter, order->filter_size);
	if (failed)
		return failure(ATTACH_MEMORY, failed);
	int64_t fd = inject_call(i, SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, memory, 0, 0, 0);
	if (fd == -EINVAL) { /* before Linux 5.19 */
		flags &= ~SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
		fd = inject_call(i, SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, memory, 0, 0, 0);
	}
	return fd < 0 ? failure(ATTACH_FILTER, (int)fd) : fd;
}

/* From here on there is no way back: whatever happens, the keeper has the listener. */
static int take_listener(struct session *s, struct injection *i, int fd)
{
	int pidfd = (int)syscall(SYS_pidfd_open, s->program, 0);
	s->listener = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	int failed = s->listener < 0 ? -errno : 0;
	if (pidfd >= 0)
		close(pidfd);
	if (!failed)
		failed = kept_give_listener(s);
	i->listener = s->listener;
	return failed ? failure(ATTACH_LISTENER, failed) : 0;
}

static int use(struct session *s, struct injection *i, const struct attach_order *order)
{
	size_t size = sizeof(struct sock_fprog) + order->filter_size;
	int64_t memory = inject_call(i, SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				     (uint64_t)-1, 0);
	if (memory < 0 && memory > -4096)
		return failure(ATTACH_MEMORY, (int)memory);
	int64_t done = 0;
	if (order->flags & ATTACH_NO_NEW_PRIVS)
		done = inject_call(i, SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0);
	if (done < 0)
		done = failure(ATTACH_PRIVILEGES, (int)done);
	else
		done = install(i, order, (uint64_t)memory);
	if (done >= 0) {
		int fd = (int)done;
		done = take_listener(s, i, fd);
		inject_call(i, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
	}
	inject_call(i, SYS_munmap, (uint64_t)memory, size, 0, 0, 0, 0);
	return (int)done;
}

static int put_filter(struct session *s, const struct attach_order *order)
{
	struct injection i;
	pid_t tid;
	uint64_t place = inject_place(order->pid);
	int failed = find_whom(s, &tid);
	if (failed)
		return failure(ATTACH_STOP, failed);
	if (!place)
		return failure(ATTACH_PLACE, -ENOENT);
	if (inject_is_dispatched(tid))
		return failure(ATTACH_DISPATCH, -EBUSY);
	if ((failed = inject_begin(&i, tid, place)) < 0)
		return failure(ATTACH_STOP, failed);
	failed = use(s, &i, order);
	int ended = inject_end(&i);
	return failed ? failed : ended < 0 ? failure(ATTACH_STOP, ended) : 0;
}

/* ------------------------------------------------------------------ all of it */

static int begin(struct session *s, const struct attach_order *order)
{
	int failed = 0;
	int filters = order->filter_size > 0 && !order->keeper;
	int stays = order->flags & (ATTACH_STAY | ATTACH_EVERY_CALL);
	if ((order->filter_size > 0) && (failed = kept_start(s, order)) < 0)
		return failure(ATTACH_KEEPER, failed);
	if (filters || stays) {
		if ((failed = seize_all(s, order->pid)) < 0)
			return failure(ATTACH_SEIZE, failed);
		if ((failed = stop_all(s)) < 0)
			return failure(ATTACH_STOP, failed);
	}
	if (filters && (failed = put_filter(s, order)) < 0)
		return failed;
	if (order->keeper && (failed = kept_take_over(s, order->keeper)) < 0)
		return failure(ATTACH_TAKE_OVER, failed);
	return 0;
}

int session_attach(struct session *s, const struct attach_order *order)
{
	s->attached = 1;
	s->program = order->pid;
	s->main_status = STATUS_UNKNOWN;
	s->every_call = (order->flags & ATTACH_EVERY_CALL) != 0;
	s->tell_first = (order->flags & ATTACH_FIRST_RETURN) != 0;
	memcpy(s->stops, order->stops, sizeof s->stops);
	int failed = begin(s, order);
	for_each(s, failed || !(order->flags & (ATTACH_STAY | ATTACH_EVERY_CALL)) ? release : go_on_followed);
	return failed;
}

/* ------------------------------------------------------------------ leaving */

static void wait_for_deputies(struct session *s)
{
	if (s->kept == NULL)
		return;
	atomic_store(&s->kept->leaving, 1);
	for (int turn = 0; turn < STOP_TURNS && atomic_load(&s->kept->deputies) > 0; turn++)
		usleep(TURN_US);
}

/* Those who wait to be heard of stop no second time. */
static void release_waiting(struct session *s, struct tracee *t)
{
	if (t->early || t->newborn)
		release(s, t);
}

/* Called when no event waits for its answer. */
void attach_leave(struct session *s)
{
	s->wants_to_leave = 0;
	s->leaving = 1;
	wait_for_deputies(s);
	/* That is how the keeper learns that it is alone now. */
	if (s->socket >= 0)
		close(s->socket);
	s->socket = -1;
	for (int turn = 0; s->kept != NULL && turn < STOP_TURNS && !atomic_load(&s->kept->alone); turn++)
		usleep(TURN_US);
	for_each(s, release_waiting);
	for_each(s, interrupt);
}

/*
 * Before a call it cannot be let go: the interruption that we asked for would end the call, and nobody would be there to
 * undo that.
 */
static int is_before_call(struct tracee *t)
{
	struct __ptrace_syscall_info info;
	return ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, sizeof info, &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

/* At the return of a call: what we changed for it goes back, and a call of ours gives way to the program's own. */
static void tidy_return(struct tracee *t)
{
	struct user_regs_struct own = t->registers;
	if (t->phase == PHASE_MAKING_SCRATCH) {
		own.rip -= 2;
		own.rax = own.orig_rax;
		own.orig_rax = (unsigned long long)-1;
		ptrace(PTRACE_SETREGS, t->tid, 0, &own);
	} else if (t->restore && load(t) == 0) {
		give_back_registers(t);
		store(t);
	}
	inject_undo_interruption(t->tid, 0);
}

/* It ran into an int3 of ours that has been taken away since: it goes on with what stands there now. */
static int is_at_former_site(struct tracee *t)
{
	siginfo_t info;
	uint8_t byte;
	if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &info) < 0 || info.si_code != SI_KERNEL || load(t) < 0 ||
	    memory_read(t->tid, t->registers.rip - 1, &byte, 1) != 1 || byte == 0xcc)
		return 0;
	t->registers.rip--;
	return store(t) == 0;
}

void attach_let_go(struct session *s, struct tracee *t, int status)
{
	int number = WSTOPSIG(status), what = status >> 16, deliver = 0;
	unsigned long peer = 0;
	if (what == 0 && number == SYSCALL_STOP && is_before_call(t)) {
		ptrace(PTRACE_SYSCALL, t->tid, 0, 0);
		return;
	}
	if (what == 0 && number == SYSCALL_STOP)
		tidy_return(t);
	else if (what == 0 && number == SIGTRAP && s->signals && is_at_former_site(t))
		deliver = 0;
	else if (what == 0)
		inject_undo_interruption(t->tid, deliver = number);
	else if (what == PTRACE_EVENT_STOP && number == SIGTRAP)
		inject_undo_interruption(t->tid, 0);
	else if (what == PTRACE_EVENT_FORK || what == PTRACE_EVENT_VFORK || what == PTRACE_EVENT_CLONE)
		if (ptrace(PTRACE_GETEVENTMSG, t->tid, 0, &peer) == 0)
			tracee_find_or_add(s, (pid_t)peer); /* it was born traced, and stops by itself */
	ptrace(PTRACE_DETACH, t->tid, 0, (long)deliver);
	tracee_forget(s, t->tid);
}

static int tell(struct session *s, enum event_kind kind, int value)
{
	memset(s->event, 0, sizeof *s->event);
	s->event->kind = kind;
	s->event->tid = s->program;
	s->event->result = value;
	stamp(s->event);
	return 1;
}

int attach_over(struct session *s)
{
	if (s->tracee_count > 0)
		return 0;
	if (!s->leaving && s->kept != NULL) /* the keeper tells */
		return 0;
	if (!s->leaving && !s->main_told) {
		s->main_told = 1;
		return tell(s, EVENT_MAIN_EXIT, s->main_status);
	}
	s->over = 1;
	return tell(s, EVENT_OVER, 0);
}
