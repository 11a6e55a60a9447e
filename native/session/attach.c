/*
 * Attaching. All threads are stopped for a moment; one of them is made to install the filter; we take the listener out of
 * it; and all go on where they were. Without a filter every call stops. Detaching stops each thread once more and lets it
 * go.
 */
#define _GNU_SOURCE
#include "attach.h"
#include "../doors/inject.h"
#include "../doors/rewrite.h"
#include "../kernel/notification.h"
#include "../kernel/procfs.h"
#include "../tracee/memory.h"
#include "keeper-client.h"

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PARKED = 1, PARKED_STOPPED = 2, STOP_TURNS = 5000, TURN_US = 1000, STATUS_UNKNOWN = -1 };

static int failure(enum attach_step step, int failed)
{
	return -(int)(step * 4096 - failed);
}

/* ------------------------------------------------------------------ seizing */

static int is_ours(pid_t tid)
{
	char status[4096];
	return procfs_text(tid, "status", status, sizeof status) > 0 &&
	       (pid_t)procfs_number(status, "TracerPid", 10) == getpid();
}

/* Returns how many threads were new, or -errno. A thread that has ended meanwhile is no error. */
static int seize_new(struct session *s, pid_t pid)
{
	int fresh = 0, failed = 0;
	DIR *tasks = procfs_list(pid, "task");
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
		int ours = failed == -EPERM && is_ours(tid); /* a child of a traced thread: the kernel traces it already */
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

static void interrupt_one(struct session *s, struct tracee *t)
{
	(void)s;
	if (!t->parked)
		ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
}

static int is_moving(const struct tracee *t)
{
	return !t->parked;
}

/* Interrupts a thread again at every other stop, until it is in the stop that PTRACE_INTERRUPT causes. */
static void park(struct session *s, pid_t tid, int status)
{
	struct tracee *t = tracee_find_or_add(s, tid);
	if (t == NULL || !WIFSTOPPED(status)) {
		tracee_forget(s, tid);
		return;
	}
	int number = WSTOPSIG(status), what = status >> 16;
	if (what == PTRACE_EVENT_STOP) {
		t->parked = number == SIGTRAP ? PARKED : PARKED_STOPPED;
		return;
	}
	if (what == 0 && number != SYSCALL_STOP)
		inject_undo_interruption(tid, number);
	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	ptrace(PTRACE_CONT, tid, 0, (long)(what == 0 && number != SYSCALL_STOP ? number : 0));
}

/* A thread that waits for its vfork child, or for a device, stops only when that wait ends. */
static int stop_all(struct session *s)
{
	tracee_for_each(s, interrupt_one);
	for (int turn = 0; turn < STOP_TURNS; turn++) {
		int status;
		pid_t tid;
		while ((tid = waitpid(-1, &status, __WALL | __WNOTHREAD | WNOHANG)) > 0)
			if (tid == s->launcher)
				s->launcher = 0;
			else
				park(s, tid, status);
		if (s->tracee_count == 0)
			return -ESRCH;
		if (tracee_next(s, is_moving) == NULL)
			return 0;
		usleep(TURN_US);
	}
	return -ETIMEDOUT;
}

static void resume_parked(struct session *s, struct tracee *t)
{
	int stopped = t->parked == PARKED_STOPPED;
	(void)s;
	t->parked = 0;
	if (stopped) { /* stopped by job control: it stays stopped until SIGCONT */
		ptrace(PTRACE_LISTEN, t->tid, 0, 0);
		return;
	}
	inject_undo_interruption(t->tid, 0);
	tracee_resume(t, 0);
}

static void resume_followed(struct session *s, struct tracee *t)
{
	trace_follow(t);
	resume_parked(s, t);
}

static void detach(struct session *s, struct tracee *t)
{
	if (t->parked == PARKED)
		inject_undo_interruption(t->tid, 0);
	ptrace(PTRACE_DETACH, t->tid, 0, 0);
	tracee_forget(s, t->tid);
}

/* ------------------------------------------------------------------ the filter */

static int is_safe(const struct tracee *t)
{
	return inject_is_safe(t->tid);
}

/* A thread that can make a call now. Running threads may all be in restartable sequences for a moment. */
static int wait_for_safe_thread(struct session *s, pid_t *tid)
{
	struct tracee *safe;
	for (int turn = 0; (safe = tracee_next(s, is_safe)) == NULL; turn++) {
		if (turn == 100)
			return -EAGAIN;
		tracee_for_each(s, resume_parked);
		usleep(TURN_US);
		int failed = stop_all(s);
		if (failed)
			return failed;
	}
	*tid = safe->tid;
	return 0;
}

static int64_t inject_seccomp(struct injection *i, const struct attach_order *order, uint64_t memory)
{
	struct sock_fprog head = { (unsigned short)(order->filter_size / sizeof(struct sock_filter)),
				   (struct sock_filter *)(uintptr_t)(memory + sizeof head) };
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

/* From here on there is no way back: the filter stays, so the keeper must have the listener. */
static int take_listener(struct session *s, struct injection *i, int fd)
{
	int pidfd = (int)syscall(SYS_pidfd_open, s->program, 0);
	s->listener = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	int failed = s->listener < 0 ? -errno : 0;
	if (pidfd >= 0)
		close(pidfd);
	if (!failed)
		failed = keeper_give_listener(s);
	i->listener = s->listener;
	return failed ? failure(ATTACH_LISTENER, failed) : 0;
}

static int inject_filter(struct session *s, struct injection *i, const struct attach_order *order)
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
		done = inject_seccomp(i, order, (uint64_t)memory);
	if (done >= 0) {
		int fd = (int)done;
		done = take_listener(s, i, fd);
		inject_call(i, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
	}
	inject_call(i, SYS_munmap, (uint64_t)memory, size, 0, 0, 0, 0);
	return (int)done;
}

static int install_filter(struct session *s, const struct attach_order *order)
{
	struct injection i;
	pid_t tid;
	uint64_t address = inject_find_syscall(order->pid);
	int failed = wait_for_safe_thread(s, &tid);
	if (failed)
		return failure(ATTACH_STOP, failed);
	if (!address)
		return failure(ATTACH_FIND_SYSCALL, -ENOENT);
	if (inject_is_dispatched(tid))
		return failure(ATTACH_DISPATCH, -EBUSY);
	if ((failed = inject_begin(&i, tid, address)) < 0)
		return failure(ATTACH_STOP, failed);
	failed = inject_filter(s, &i, order);
	int ended = inject_end(&i);
	return failed ? failed : ended < 0 ? failure(ATTACH_STOP, ended) : 0;
}

/* ------------------------------------------------------------------ the whole */

static int begin(struct session *s, const struct attach_order *order)
{
	int failed = 0;
	int filters = order->filter_size > 0 && !order->keeper;
	int stays = order->flags & (ATTACH_STAY | ATTACH_EVERY_CALL);
	if ((order->filter_size > 0) && (failed = keeper_start(s, order)) < 0)
		return failure(ATTACH_KEEPER, failed);
	if (filters || stays) {
		if ((failed = seize_all(s, order->pid)) < 0)
			return failure(ATTACH_SEIZE, failed);
		if ((failed = stop_all(s)) < 0)
			return failure(ATTACH_STOP, failed);
	}
	if (filters && (failed = install_filter(s, order)) < 0)
		return failed;
	if (order->keeper && (failed = keeper_take_over(s, order->keeper)) < 0)
		return failure(ATTACH_TAKE_OVER, failed);
	return 0;
}

int session_attach(struct session *s, const struct attach_order *order)
{
	s->attached = 1;
	s->program = order->pid;
	s->main_status = STATUS_UNKNOWN;
	s->every_call = (order->flags & ATTACH_EVERY_CALL) != 0;
	s->report_first_return = (order->flags & ATTACH_FIRST_RETURN) != 0;
	memcpy(s->stops, order->stops, sizeof s->stops);
	int failed = begin(s, order);
	tracee_for_each(s, failed || !(order->flags & (ATTACH_STAY | ATTACH_EVERY_CALL)) ? detach : resume_followed);
	return failed;
}

/* ------------------------------------------------------------------ detaching */

static void wait_for_blocking_calls(struct session *s)
{
	if (s->keeper == NULL)
		return;
	atomic_store(&s->keeper->leaving, 1);
	for (int turn = 0; turn < STOP_TURNS && atomic_load(&s->keeper->blocking_calls) > 0; turn++)
		usleep(TURN_US);
}

/* A tracee that waits for its birth to be reported will not stop again. */
static void detach_waiting(struct session *s, struct tracee *t)
{
	if (t->early || t->newborn)
		detach(s, t);
}

/* Called when no event waits for its answer. */
void attach_leave(struct session *s)
{
	s->wants_to_leave = 0;
	s->leaving = 1;
	wait_for_blocking_calls(s);
	/* By this the keeper learns that its supervisor has gone. */
	if (s->socket >= 0)
		close(s->socket);
	s->socket = -1;
	for (int turn = 0; s->keeper != NULL && turn < STOP_TURNS && !atomic_load(&s->keeper->alone); turn++)
		usleep(TURN_US);
	tracee_for_each(s, detach_waiting);
	tracee_for_each(s, interrupt_one);
}

/*
 * A thread at the entry of a call cannot be detached: the pending interruption would end the call with EINTR, and we could
 * not undo that any more.
 */
static int is_before_call(struct tracee *t)
{
	struct __ptrace_syscall_info info;
	return ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, sizeof info, &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

/* At the return of a call: undoes our changes, and replaces a call of ours by the program's own. */
static void tidy_return(struct tracee *t)
{
	struct user_regs_struct own = t->registers;
	if (t->phase == PHASE_MAKING_SCRATCH) {
		own.rip -= 2;
		own.rax = own.orig_rax;
		own.orig_rax = (unsigned long long)-1;
		ptrace(PTRACE_SETREGS, t->tid, 0, &own);
	} else if (t->restore && registers_load(t) == 0) {
		rewrite_restore_registers(t);
		registers_store(t);
	}
	inject_undo_interruption(t->tid, 0);
}

/* The thread ran into an int3 of ours that has been removed since: it continues at the original byte. */
static int is_at_former_site(struct tracee *t)
{
	siginfo_t info;
	uint8_t byte;
	if (ptrace(PTRACE_GETSIGINFO, t->tid, 0, &info) < 0 || info.si_code != SI_KERNEL || registers_load(t) < 0 ||
	    memory_read(t->tid, t->registers.rip - 1, &byte, 1) != 1 || byte == 0xcc)
		return 0;
	t->registers.rip--;
	return registers_store(t) == 0;
}

void attach_detach_one(struct session *s, struct tracee *t, int status)
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
			tracee_find_or_add(s, (pid_t)peer); /* it was born traced, and will stop by itself */
	ptrace(PTRACE_DETACH, t->tid, 0, (long)deliver);
	tracee_forget(s, t->tid);
}

int attach_poll_end(struct session *s)
{
	if (s->tracee_count > 0)
		return 0;
	if (!s->leaving && s->keeper != NULL) /* the keeper reports the end */
		return 0;
	if (!s->leaving && !s->main_reported) {
		s->main_reported = 1;
		return session_report(s, EVENT_MAIN_EXIT, s->main_status);
	}
	s->over = 1;
	return session_report(s, EVENT_OVER, 0);
}
