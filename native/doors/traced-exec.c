/*
 * A thread has one tracer. Where that is a debugger of the session, the kernel stops the thread for the debugger after its
 * execve. So we hold the debugger instead: while it cannot make a call, the thread stays in that stop, and is verified there.
 *
 * If the debugger is killed meanwhile, it stops before its tracees are set free (PTRACE_O_TRACEEXIT).
 * src/session/traced-execs.ts makes sure that the thread does stop.
 */
#define _GNU_SOURCE
#include "traced-exec.h"
#include "../kernel/clock.h"
#include "../kernel/procfs.h"
#include "../tracee/memory.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const int64_t STOP_NS = 10000000000, EXEC_NS = 10000000000;
enum { PAUSE_US = 50 };

/* The state letter of proc(5), or 0 when there is no such thread. */
static char state_of(pid_t tid)
{
	char stat[512];
	if (procfs_text(tid, "stat", stat, sizeof stat) <= 0)
		return 0;
	const char *end = strrchr(stat, ')');
	return end != NULL && end[1] == ' ' ? end[2] : 0;
}

static struct program_mark mark_of(pid_t tid)
{
	struct program_mark mark = { 0 };
	Elf64_auxv_t entries[64];
	int fd = procfs_open(tid, "auxv", O_RDONLY);
	ssize_t size = fd < 0 ? 0 : read(fd, entries, sizeof entries);
	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < size / (ssize_t)sizeof entries[0]; i++)
		if (entries[i].a_type == AT_RANDOM)
			mark.address = entries[i].a_un.a_val;
	if (mark.address == 0 || memory_read(tid, mark.address, mark.bytes, RANDOM_BYTES) != RANDOM_BYTES)
		memset(mark.bytes, 0, RANDOM_BYTES);
	return mark;
}

/* 1 when the tracer has stopped, 0 when not yet, -ESRCH when it has ended. */
static int look_at_tracer(struct held_tracer *held)
{
	int status;
	if (held->stopped)
		return 1;
	pid_t got = waitpid(held->tracer, &status, __WALL | __WNOTHREAD | WNOHANG);
	if (got == 0)
		return 0;
	if (got < 0 || !WIFSTOPPED(status))
		return -ESRCH;
	held->stopped = 1;
	held->signal = status >> 16 ? 0 : WSTOPSIG(status);
	return 1;
}

int traced_exec_hold(struct held_tracer *held, pid_t tid, pid_t tracer)
{
	*held = (struct held_tracer){ .tracer = tracer, .before = mark_of(tid) };
	if (ptrace(PTRACE_SEIZE, tracer, 0, PTRACE_O_TRACEEXIT) < 0)
		return -errno;
	ptrace(PTRACE_INTERRUPT, tracer, 0, 0);
	int64_t from = monotonic_ns();
	int got;
	/* In state D, such as in vfork(2), it stops on its way out of the kernel, before it makes another call. */
	while ((got = look_at_tracer(held)) == 0 && state_of(tracer) != 'D' && monotonic_ns() - from < STOP_NS)
		usleep(PAUSE_US);
	return got < 0 ? got : got > 0 || state_of(tracer) == 'D' ? 0 : -EBUSY;
}

/* Whether it is in another call than an execve, and so its execve has failed. */
static int is_in_another_call(pid_t tid)
{
	char text[256];
	char *end;
	if (procfs_text(tid, "syscall", text, sizeof text) <= 0)
		return 0;
	long nr = strtol(text, &end, 10);
	return end != text && nr >= 0 && nr != SYS_execve && nr != SYS_execveat;
}

int traced_exec_wait(const struct held_tracer *held, pid_t tid)
{
	for (int64_t from = monotonic_ns(); monotonic_ns() - from < EXEC_NS; usleep(PAUSE_US)) {
		char state = state_of(tid);
		if (state == 0 || state == 'Z' || state == 'X')
			return 0;
		if (state == 't' || state == 'T') {
			struct program_mark now = mark_of(tid);
			return memcmp(&now, &held->before, sizeof now) != 0;
		}
		if (is_in_another_call(tid))
			return 0;
	}
	return -ETIMEDOUT;
}

int traced_exec_release(struct held_tracer *held)
{
	int64_t from = monotonic_ns();
	int got;
	/* In state D it may be in a call of its own that waits for us: it stops after our answer, and not before. */
	while ((got = look_at_tracer(held)) == 0 && state_of(held->tracer) != 'D' && monotonic_ns() - from < STOP_NS)
		usleep(PAUSE_US);
	if (got > 0 && ptrace(PTRACE_DETACH, held->tracer, 0, (long)held->signal) < 0)
		return 0;
	return got != 0;
}
