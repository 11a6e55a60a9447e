/*
 * System calls that a stopped thread makes for us. It jumps to an existing syscall instruction with its signals blocked,
 * and returns to where it was. No byte of the program changes, and no other thread can notice.
 */
#define _GNU_SOURCE
#include "inject.h"
#include "../kernel/abi.h"
#include "../kernel/notification.h"
#include "../kernel/procfs.h"
#include "../tracee/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <poll.h>

enum {
	CHUNK = 64 * 1024,
	SEARCHED = 64 * 1024 * 1024,
};
/* Linux 5.13 and 6.4; older headers lack them. */
#define GET_RSEQ ((enum __ptrace_request)0x420f)
#define GET_DISPATCH ((enum __ptrace_request)0x4211)

/* ------------------------------------------------------------------ where */

static uint64_t find_in(pid_t pid, uint64_t from, uint64_t to)
{
	static const uint8_t code[SYSCALL_LENGTH] = { 0x0f, 0x05 };
	uint8_t bytes[CHUNK];
	if (to - from > SEARCHED)
		to = from + SEARCHED;
	for (uint64_t at = from; at + SYSCALL_LENGTH <= to;) {
		size_t want = to - at < CHUNK ? to - at : CHUNK;
		ssize_t got = memory_read(pid, at, bytes, want);
		if (got < SYSCALL_LENGTH)
			return 0;
		const uint8_t *found = memmem(bytes, (size_t)got, code, sizeof code);
		if (found != NULL)
			return at + (uint64_t)(found - bytes);
		at += (uint64_t)got - (SYSCALL_LENGTH - 1);
	}
	return 0;
}

/*
 * The vDSO has a syscall instruction, for clocks that it cannot read. If not, any code will do, even the two bytes in the
 * middle of another instruction.
 */
uint64_t inject_find_syscall(pid_t pid)
{
	char path[64], line[4600];
	uint64_t best = 0;
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	FILE *maps = fopen(path, "re");
	if (maps == NULL)
		return 0;
	while (fgets(line, sizeof line, maps) != NULL) {
		unsigned long from, to;
		char permissions[5];
		if (sscanf(line, "%lx-%lx %4s", &from, &to, permissions) != 3 || permissions[2] != 'x' ||
		    permissions[0] != 'r' || from >> 47)
			continue;
		int vdso = strstr(line, "[vdso]") != NULL;
		uint64_t found = vdso || !best ? find_in(pid, from, to) : 0;
		if (found)
			best = found;
		if (found && vdso)
			break;
	}
	fclose(maps);
	return best;
}

/* ------------------------------------------------------------------ when */

int inject_is_safe(pid_t tid)
{
	struct user_regs_struct now;
	struct {
		uint64_t pointer;
		uint32_t size, signature, flags, pad;
	} rseq = { 0 };
	uint64_t section = 0;
	if (ptrace(PTRACE_GETREGS, tid, 0, &now) < 0)
		return 0;
	if ((int64_t)now.orig_rax >= 0) /* in a call: a restartable sequence makes none */
		return 1;
	if (ptrace(GET_RSEQ, tid, sizeof rseq, &rseq) < 0 || rseq.pointer == 0)
		return 1;
	return memory_read(tid, rseq.pointer + 8, &section, sizeof section) == sizeof section && section == 0;
}

int inject_is_dispatched(pid_t tid)
{
	struct {
		uint64_t mode, selector, offset, length;
	} dispatch = { 0 };
	return ptrace(GET_DISPATCH, tid, sizeof dispatch, &dispatch) >= 0 && dispatch.mode != 0;
}

/* ------------------------------------------------------------------ how */

int inject_begin(struct injection *i, pid_t tid, uint64_t address)
{
	uint64_t every = ~0ULL;
	i->tid = tid;
	i->address = address;
	i->listener = -1;
	if (ptrace(PTRACE_GETREGS, tid, 0, &i->own) < 0 ||
	    ptrace(PTRACE_GETSIGMASK, tid, sizeof i->mask, &i->mask) < 0 ||
	    ptrace(PTRACE_SETSIGMASK, tid, sizeof every, &every) < 0)
		return -errno;
	return 0;
}

/* With our filter in force an injected call may arrive at the listener. No other thread runs meanwhile. */
static void let_through(int listener)
{
	struct pollfd ready = { listener, POLLIN, 0 };
	struct seccomp_notif request;
	if (poll(&ready, 1, 1) > 0 && notification_receive(listener, &request) == 0)
		notification_continue(listener, request.id);
}

static int wait_for(struct injection *i, int *status)
{
	for (;;) {
		pid_t got = waitpid(i->tid, status, __WALL | (i->listener >= 0 ? WNOHANG : 0));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got > 0)
			return WIFSTOPPED(*status) ? 0 : -ESRCH;
		let_through(i->listener);
	}
}

/* Runs to the next system call stop. Group stops on the way are skipped; the tracee re-enters them at the end. */
static int to_syscall_stop(struct injection *i)
{
	int status, failed;
	do {
		if (ptrace(PTRACE_SYSCALL, i->tid, 0, 0) < 0)
			return -errno;
		if ((failed = wait_for(i, &status)) < 0)
			return failed;
	} while (WSTOPSIG(status) != SYSCALL_STOP);
	return 0;
}

int64_t inject_call(struct injection *i, long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	struct user_regs_struct call = i->own;
	int failed;
	call.rip = i->address;
	call.rax = (unsigned long long)nr;
	call.orig_rax = (unsigned long long)-1; /* or the kernel might take it for an interrupted call */
	call.rdi = a, call.rsi = b, call.rdx = c, call.r10 = d, call.r8 = e, call.r9 = f;
	if (ptrace(PTRACE_SETREGS, i->tid, 0, &call) < 0)
		return -errno;
	if ((failed = to_syscall_stop(i)) < 0 || (failed = to_syscall_stop(i)) < 0)
		return failed;
	if (ptrace(PTRACE_GETREGS, i->tid, 0, &call) < 0)
		return -errno;
	return (int64_t)call.rax;
}

/*
 * If the thread was blocked in a call, that call must be restarted. The kernel restarts it only for a thread that stops on
 * its way out of the kernel, as it did at the beginning. So the thread is stopped that way once more.
 */
int inject_end(struct injection *i)
{
	int status, failed;
	do {
		if (ptrace(PTRACE_INTERRUPT, i->tid, 0, 0) < 0 || ptrace(PTRACE_CONT, i->tid, 0, 0) < 0)
			return -errno;
		if ((failed = wait_for(i, &status)) < 0)
			return failed;
	} while (status >> 16 != PTRACE_EVENT_STOP);
	if (ptrace(PTRACE_SETREGS, i->tid, 0, &i->own) < 0 ||
	    ptrace(PTRACE_SETSIGMASK, i->tid, sizeof i->mask, &i->mask) < 0)
		return -errno;
	return 0;
}

/* ------------------------------------------------------------------ hiding our interruptions */

/* Calls that fail with EINTR although no handler ran: signal(7). With a timeout, those on sockets too. */
static int is_spoiled(unsigned long long nr)
{
	switch (nr) {
	case SYS_epoll_wait: case SYS_epoll_pwait: case SYS_epoll_pwait2: case SYS_rt_sigtimedwait: case SYS_semop:
	case SYS_semtimedop: case SYS_io_getevents: case SYS_io_pgetevents: case SYS_io_uring_enter: case SYS_read:
	case SYS_recvfrom: case SYS_recvmsg: case SYS_recvmmsg: case SYS_accept: case SYS_accept4: case SYS_connect:
	case SYS_write: case SYS_sendto: case SYS_sendmsg: case SYS_mq_timedreceive: case SYS_mq_timedsend:
		return 1;
	default:
		return 0;
	}
}

static uint64_t bit(int number)
{
	return 1ULL << (number - 1);
}

struct dispositions {
	uint64_t own, shared, blocked, ignored, caught;
};

static int read_dispositions(pid_t tid, struct dispositions *d)
{
	char status[CHUNK]; /* a process may have thousands of groups */
	if (procfs_text(tid, "status", status, sizeof status) <= 0 || procfs_field(status, "SigCgt") == NULL)
		return 0;
	*d = (struct dispositions){
		.own = procfs_number(status, "SigPnd", 16),
		.shared = procfs_number(status, "ShdPnd", 16),
		.blocked = procfs_number(status, "SigBlk", 16),
		.ignored = procfs_number(status, "SigIgn", 16),
		.caught = procfs_number(status, "SigCgt", 16),
	};
	return 1;
}

/* Signals that have no effect on the process. Without a tracer they would not even wake it. */
static uint64_t without_effect(const struct dispositions *d)
{
	return d->ignored | ((bit(SIGCHLD) | bit(SIGURG) | bit(SIGWINCH) | bit(SIGCONT)) & ~d->caught);
}

int inject_undo_interruption(pid_t tid, int number)
{
	struct user_regs_struct now;
	struct dispositions d;
	if (ptrace(PTRACE_GETREGS, tid, 0, &now) < 0 || (int64_t)now.rax != -EINTR || !is_spoiled(now.orig_rax) ||
	    !read_dispositions(tid, &d))
		return 0;
	uint64_t waiting = ((d.own | d.shared) & ~d.blocked) | (number > 0 ? bit(number) : 0);
	if (waiting & ~without_effect(&d)) /* it would have been interrupted without a tracer too */
		return 0;
	now.rip -= SYSCALL_LENGTH;
	now.rax = now.orig_rax;
	now.orig_rax = (unsigned long long)-1;
	return ptrace(PTRACE_SETREGS, tid, 0, &now) == 0;
}
