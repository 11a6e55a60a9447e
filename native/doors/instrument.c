/*
 * Inside a program: signals that are events before the program gets them (an int3 of ours is a SIGTRAP), its registers and
 * code, and calls that we make it make. src/session/instrument decides what an int3 means.
 */
#define _GNU_SOURCE
#include "rewrite.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_STOPS = 64, KERNEL_MASK = 8 };

/* ------------------------------------------------------------------ signals */

int instrument_signal(struct session *s, struct tracee *t, int number)
{
	struct event *event = s->event;
	siginfo_t info;
	if (registers_load(t) < 0 || ptrace(PTRACE_GETSIGINFO, t->tid, 0, &info) < 0)
		return 0; /* it was killed meanwhile */
	event->kind = EVENT_SIGNAL;
	event->door = DOOR_TRACE;
	event->tid = t->tid;
	event->nr = number;
	event->peer = info.si_code;
	event->id = (uint64_t)(uintptr_t)info.si_addr;
	event->ip = t->registers.rip;
	event->sp = t->registers.rsp;
	event->fetched = 0;
	event->result = 0;
	memcpy(event->registers, &t->registers, sizeof t->registers);
	event_stamp(event);
	s->awaiting = 1;
	return 1;
}

/*
 * The kernel unblocks the signal of a fault to deliver it. If every other signal is blocked, this one was blocked too, and
 * is blocked again.
 */
void instrument_block_again(struct tracee *t, int number)
{
	const uint64_t trap = 1ull << (number - 1);
	const uint64_t never = 1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1) | 3ull << 31; /* 32 and 33 are glibc's own */
	uint64_t mask;
	if (ptrace(PTRACE_GETSIGMASK, t->tid, KERNEL_MASK, &mask) < 0 || (mask | never | trap) != ~0ull)
		return;
	mask |= trap;
	ptrace(PTRACE_SETSIGMASK, t->tid, KERNEL_MASK, &mask);
}

void instrument_answer(struct session *s, struct tracee *t, const struct event *event)
{
	const struct answer *answer = s->answer;
	if (answer->flags & ANSWER_REGISTERS) {
		memcpy(&t->registers, s->event->registers, sizeof t->registers);
		registers_store(t);
	}
	if (event->nr == SIGTRAP && answer->result == 0)
		instrument_block_again(t, SIGTRAP);
	tracee_resume(t, (int)answer->result);
}

/* ------------------------------------------------------------------ registers */

int instrument_registers(pid_t tid, void *into)
{
	return ptrace(PTRACE_GETREGS, tid, 0, into) < 0 ? -errno : 0;
}

int instrument_set_registers(struct session *s, pid_t tid, const void *from)
{
	struct tracee *t = tracee_find(s, tid);
	if (t == NULL)
		return -ESRCH;
	memcpy(&t->registers, from, sizeof t->registers);
	return registers_store(t);
}

/* ------------------------------------------------------------------ memory that the program may not write itself */

static int open_memory(pid_t tid)
{
	char path[40];
	snprintf(path, sizeof path, "/proc/%d/mem", (int)tid);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int instrument_store(pid_t tid, uint64_t address, const uint8_t *from, size_t length)
{
	int fd = open_memory(tid), failed = 0;
	if (fd < 0)
		return fd;
	for (size_t done = 0; done < length && !failed;) {
		ssize_t put = pwrite(fd, from + done, length - done, (off_t)(address + done));
		if (put > 0)
			done += (size_t)put;
		else
			failed = put < 0 ? -errno : -EFAULT;
	}
	close(fd);
	return failed;
}

/* Writes one byte to each address. Returns how many were written: fewer than `count` when one could not be. */
int instrument_patch(pid_t tid, const uint64_t *addresses, const uint8_t *values, size_t count)
{
	int fd = open_memory(tid);
	size_t done = 0;
	if (fd < 0)
		return fd;
	while (done < count && pwrite(fd, values + done, 1, (off_t)addresses[done]) == 1)
		done++;
	close(fd);
	return (int)done;
}

/* ------------------------------------------------------------------ a call that the program did not ask for */

static int is_job_stop(int status)
{
	int number = WSTOPSIG(status);
	return status >> 16 == PTRACE_EVENT_STOP && number != SIGTRAP;
}

/* Runs the tracee to the return of the next system call. */
static int run_call(struct session *s, struct tracee *t, int *job_stop)
{
	int status, syscall_stops = 0;
	for (int i = 0; i < MAX_STOPS; i++) {
		if (ptrace(PTRACE_SYSCALL, t->tid, 0, 0) < 0)
			return -errno;
		while (waitpid(t->tid, &status, __WALL) < 0)
			if (errno != EINTR)
				return -errno;
		if (!WIFSTOPPED(status)) {
			t->ended = 1;
			t->end_status = status;
			s->ended++;
			return -ESRCH;
		}
		if (WSTOPSIG(status) == SYSCALL_STOP && ++syscall_stops == 2)
			return 0;
		if (is_job_stop(status))
			*job_stop = WSTOPSIG(status);
		else if (status >> 16 == 0 && WSTOPSIG(status) != SYSCALL_STOP)
			return -EFAULT; /* there was no syscall instruction */
	}
	return -EBUSY;
}

/*
 * Makes a stopped tracee, outside of a system call, make one: number and arguments in `call`, from the syscall instruction
 * at `at`. Its registers and signal mask are restored. Returns the call's result, or -errno.
 */
int64_t instrument_call(struct session *s, pid_t tid, uint64_t at, const uint64_t call[7])
{
	struct tracee *t = tracee_find(s, tid);
	struct user_regs_struct own, now;
	uint64_t mask = 0, every = ~0ull;
	int job_stop = 0;
	if (t == NULL)
		return -ESRCH;
	if (ptrace(PTRACE_GETREGS, tid, 0, &own) < 0 || ptrace(PTRACE_GETSIGMASK, tid, KERNEL_MASK, &mask) < 0)
		return -errno;
	ptrace(PTRACE_SETSIGMASK, tid, KERNEL_MASK, &every);
	now = own;
	now.rip = at;
	now.rax = call[0];
	now.orig_rax = (unsigned long long)-1; /* or the kernel might take it for an interrupted call */
	for (int i = 0; i < ARGUMENTS; i++)
		*argument_register(&now, i) = call[1 + i];
	if (ptrace(PTRACE_SETREGS, tid, 0, &now) < 0)
		return -errno;
	int64_t result = run_call(s, t, &job_stop);
	if (result == 0 && ptrace(PTRACE_GETREGS, tid, 0, &now) == 0)
		result = (int64_t)now.rax;
	if (t->ended)
		return result;
	ptrace(PTRACE_SETREGS, tid, 0, &own);
	ptrace(PTRACE_SETSIGMASK, tid, KERNEL_MASK, &mask);
	if (job_stop) /* we took it out of a group stop: it re-enters that as soon as it runs */
		syscall(SYS_tkill, tid, job_stop);
	return result;
}
