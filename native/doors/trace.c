/*
 * The trace door: SECCOMP_RET_TRACE and ptrace, for calls that need registers, returns or rewritten arguments. Tracees are
 * seized, not attached, so group stops and job control work as without a tracer.
 */
#define _GNU_SOURCE
#include "rewrite.h"
#include "../session/attach.h"
#include "../tracee/memory.h"
#include "inject.h"

#include <errno.h>
#include <linux/audit.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const int OPTIONS = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			   PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;

/* While we attach, children are not traced: a child stopped right after vfork would keep its parent from ever stopping. */
static const int TRACE_THREADS = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE;

int trace_is_injecting(struct session *s, pid_t tid)
{
	if (!(s->doors & 1 << DOOR_TRACE))
		return 0;
	struct tracee *t = tracee_find(s, tid);
	return t != NULL && t->phase == PHASE_MAKING_SCRATCH;
}

/* ------------------------------------------------------------------ answers */

static void answer_entry(struct session *s, struct tracee *t, const struct answer *answer, const uint8_t *bytes)
{
	if (answer->action == ANSWER_RETURN) {
		int failed = apply_writes(t->tid, answer, bytes);
		rewrite_skip_call(t, failed ? failed : answer->result);
	} else {
		rewrite_continue(s, t, answer, bytes);
	}
}

static void answer_return(struct session *s, struct tracee *t, const struct answer *answer)
{
	int changed = t->restore != 0;
	int failed = apply_writes(t->tid, answer, s->buffer + REPLY_OFFSET);
	rewrite_restore_registers(t);
	if (failed || answer->flags & ANSWER_SET_RESULT) {
		t->registers.rax = (unsigned long long)(failed ? failed : answer->result);
		changed = 1;
	}
	if (changed)
		registers_store(t);
	tracee_resume(t, 0);
}

/* A child may stop before its parent reports its birth. It waits until then, so that its events come after the birth. */
static void release_early(struct session *s, struct tracee *born)
{
	if (born == NULL || !born->early)
		return;
	born->early = 0;
	s->early--;
	if (born->restore && registers_load(born) == 0) {
		rewrite_restore_registers(born);
		registers_store(born);
	}
	if (s->births && !born->born) {
		born->newborn = 1;
		s->newborn++;
	} else {
		tracee_resume(born, 0);
	}
}

static int is_newborn(const struct tracee *t) { return t->newborn; }

static int has_ended(const struct tracee *t) { return t->ended; }

void trace_answer(struct session *s, const struct event *event)
{
	const struct answer *answer = s->answer;
	struct tracee *t = tracee_find(s, event->tid);
	if (t == NULL || answer->action == ANSWER_HOLD)
		return;
	if (answer->action == ANSWER_KILL) {
		kill(event->tid, SIGKILL);
		return;
	}
	if (answer->signal)
		syscall(SYS_tkill, event->tid, answer->signal);
	switch (event->kind) {
	case EVENT_ENTRY:
		if (answer->action == ANSWER_ON_BEHALF)
			rewrite_on_behalf(s, t, event, answer->flags);
		else
			answer_entry(s, t, answer, s->buffer + REPLY_OFFSET);
		break;
	case EVENT_RETURN:
		answer_return(s, t, answer);
		break;
	case EVENT_SIGNAL:
		instrument_answer(s, t, event);
		break;
	case EVENT_INSTRUCTION:
		instruction_answer(t, event, answer);
		break;
	case EVENT_FORK:
		release_early(s, tracee_find(s, event->peer));
		tracee_resume(t, 0);
		break;
	case EVENT_EXEC: /* its return is the first moment at which the new program can be made to make calls */
		if (answer->flags & ANSWER_WANT_RETURN)
			t->in_call = t->want_return = 1;
		tracee_resume(t, 0);
		break;
	default:
		tracee_resume(t, 0);
	}
}

/* ------------------------------------------------------------------ stops */

static struct cpu_sharing_state *cpu_sharing_of(const struct session *s)
{
	return s->verdict_cache ? &s->verdict_cache->cpu_sharing : NULL;
}

static int report(struct session *s, struct tracee *t, enum event_kind kind)
{
	struct event *event = s->event;
	event->kind = kind;
	event->door = DOOR_TRACE;
	event->tid = t->tid;
	event->peer = 0;
	event->broker = s->broker;
	event->fetched = 0;
	event->id = 0;
	event->result = 0;
	event_stamp(event);
	memory_log_stop(event);
	s->awaiting = 1;
	return 1;
}

static void report_registers(struct event *event, struct tracee *t)
{
	event->nr = (int32_t)t->registers.orig_rax;
	for (int i = 0; i < ARGUMENTS; i++)
		event->args[i] = *argument_register(&t->registers, i);
	event->ip = t->registers.rip;
	event->sp = t->registers.rsp;
	_Static_assert(sizeof t->registers == sizeof event->registers, "a thread's registers");
	memcpy(event->registers, &t->registers, sizeof event->registers);
}

static int on_entry(struct session *s, struct tracee *t)
{
	struct user_regs_struct now;
	if (ptrace(PTRACE_GETREGS, t->tid, 0, &now) < 0)
		return 0;
	if (rewrite_is_replay(t, &now)) {
		struct answer *pending = t->pending;
		t->pending = NULL;
		t->phase = PHASE_IDLE;
		t->registers = now;
		answer_entry(s, t, pending, (const uint8_t *)(pending + 1));
		free(pending);
		return 0;
	}
	t->registers = now;
	t->restore = 0;
	report(s, t, EVENT_ENTRY);
	report_registers(s->event, t);
	fetch_arguments(s);
	if (missing_program_answer(s)) {
		s->awaiting = 0;
		rewrite_skip_call(t, -ENOENT);
		return 0;
	}
	return 1;
}

static int on_return(struct session *s, struct tracee *t)
{
	if (t->phase == PHASE_MAKING_SCRATCH) {
		rewrite_scratch_ready(t);
		return 0;
	}
	t->in_call = 0;
	if (registers_load(t) < 0)
		return 0;
	int interrupted = t->on_behalf != NULL && (int64_t)t->registers.rax == -ERESTARTSYS;
	tracee_drop_on_behalf(s, t);
	if (interrupted) { /* a signal came before the notification: the tracee makes the call again */
		rewrite_restore_registers(t);
		t->want_return = 0;
		rewrite_restart_call(t);
		return 0;
	}
	if (!t->want_return) {
		rewrite_restore_registers(t);
		registers_store(t);
		tracee_resume(t, 0);
		return 0;
	}
	t->want_return = 0;
	report(s, t, EVENT_RETURN);
	report_registers(s->event, t);
	for (int i = 0; i < ARGUMENTS; i++)
		if (t->restore & 1u << i)
			s->event->args[i] = t->original[i];
	if (t->registers.orig_rax == (unsigned long long)-1) /* made on behalf: for the kernel there was no call */
		s->event->nr = t->skipped;
	s->event->result = (int64_t)t->registers.rax;
	return 1;
}

/* Without a filter every call stops, twice. Only calls that a policy subscribes to are reported. */
static int on_any_call(struct session *s, struct tracee *t)
{
	struct __ptrace_syscall_info info;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, sizeof info, &info) < 0)
		return 0;
	if (info.op == PTRACE_SYSCALL_INFO_EXIT && info.exit.rval == -EINTR && t->restore == 0 &&
	    inject_undo_interruption(t->tid, 0))
		t->in_call = 0;
	if (info.op == PTRACE_SYSCALL_INFO_EXIT && s->report_first_return && !t->in_call && info.exit.rval > -ERESTARTSYS) {
		s->report_first_return = 0;
		t->in_call = t->want_return = 1;
	}
	if (info.op == PTRACE_SYSCALL_INFO_EXIT && t->in_call)
		return on_return(s, t);
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		uint64_t nr = info.entry.nr;
		if (info.arch != AUDIT_ARCH_X86_64 || nr >= X32_CALLS) {
			if (registers_load(t) == 0)
				rewrite_skip_call(t, -ENOSYS);
			return 0;
		}
		if (nr < MAX_SYSCALL && s->stops[nr / 8] >> nr % 8 & 1)
			return on_entry(s, t);
	}
	tracee_resume(t, 0);
	return 0;
}

static int on_fork(struct session *s, struct tracee *t)
{
	unsigned long peer = 0;
	if (ptrace(PTRACE_GETEVENTMSG, t->tid, 0, &peer) < 0)
		return 0;
	/* The new tracee may have stopped, and even made calls, before its birth is reported. */
	struct tracee *known = tracee_find(s, (pid_t)peer), *born = known ? known : tracee_find_or_add(s, (pid_t)peer);
	if (born != NULL && (known == NULL || known->early)) { /* it has a copy of our scratch memory, or (vfork) shares it */
		born->scratch = t->scratch;
		born->scratch_size = t->scratch_size;
		born->restore = t->restore; /* and a copy of the registers that we changed */
		memcpy(born->original, t->original, sizeof born->original);
	}
	cpu_sharing_undo_inherited(cpu_sharing_of(s), t->tid, (pid_t)peer);
	report(s, t, EVENT_FORK);
	s->event->peer = (int32_t)peer;
	return 1;
}

static int on_exec(struct session *s, struct tracee *t)
{
	unsigned long former = 0;
	ptrace(PTRACE_GETEVENTMSG, t->tid, 0, &former);
	if (former != 0 && (pid_t)former != t->tid) { /* a thread that was not the leader took the leader's id */
		struct tracee *caller = tracee_find(s, (pid_t)former);
		if (caller != NULL) {
			t->in_call = caller->in_call;
			t->want_return = caller->want_return;
			tracee_forget(s, (pid_t)former);
		}
	}
	t->born = 1;
	t->restore = 0; /* a new program has new registers */
	t->scratch = t->scratch_size = 0;
	t->phase = PHASE_IDLE;
	free(t->pending);
	t->pending = NULL;
	cwd_cache_after_exec(&s->cwd_cache);
	report(s, t, EVENT_EXEC);
	s->event->peer = (int32_t)former;
	return 1;
}

static int on_fault(struct session *s, struct tracee *t)
{
	int length = 0;
	enum instruction which = instruction_faulted(s, t, &length);
	if (which == INSTRUCTION_NONE)
		return 0;
	report(s, t, EVENT_INSTRUCTION);
	instruction_report(s->event, t, which, length);
	return 1;
}

static int report_birth(struct session *s, struct tracee *t)
{
	s->newborn -= t->newborn;
	t->newborn = 0;
	t->born = 1;
	return report(s, t, EVENT_BORN);
}

static int is_stop_signal(int number)
{
	return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

static int on_stop(struct session *s, struct tracee *t, int status, int fresh)
{
	int number = WSTOPSIG(status), what = status >> 16;
	switch (what) {
	case PTRACE_EVENT_SECCOMP:
		return on_entry(s, t);
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		return on_fork(s, t);
	case PTRACE_EVENT_EXEC:
		return on_exec(s, t);
	case PTRACE_EVENT_STOP:
		if (is_stop_signal(number)) { /* job control: it stays stopped, but reacts to SIGCONT */
			ptrace(PTRACE_LISTEN, t->tid, 0, 0);
			return 0;
		}
		if (s->attached)
			inject_undo_interruption(t->tid, 0);
		if (fresh && (s->signals || instruction_traps(s) || cpu_sharing_is_inherited(cpu_sharing_of(s), t->tid))) {
			t->early = 1;
			s->early++;
			return 0;
		}
		if (t->restore && !t->in_call && registers_load(t) == 0) { /* inherited by a clone that we changed */
			rewrite_restore_registers(t);
			registers_store(t);
		}
		if (s->births && !t->born)
			return report_birth(s, t);
		tracee_resume(t, 0);
		return 0;
	case 0:
		if (number == SYSCALL_STOP)
			return s->every_call ? on_any_call(s, t) : on_return(s, t);
		if (number == SIGSEGV && on_fault(s, t))
			return 1;
		if (s->signals & 1ull << (number - 1))
			return instrument_signal(s, t, number);
		inject_undo_interruption(t->tid, number);
		tracee_resume(t, number); /* a signal on its way to the program */
		return 0;
	default:
		tracee_resume(t, 0);
		return 0;
	}
}

void trace_follow(struct tracee *t)
{
	ptrace(PTRACE_SETOPTIONS, t->tid, 0, (long)OPTIONS);
}

int trace_seize(struct session *s, pid_t tid)
{
	if (tracee_find_or_add(s, tid) == NULL)
		return -ENOMEM;
	/* A program that we launched ends with us. A process that we attached to goes on without us. */
	long options = s->attached ? TRACE_THREADS : OPTIONS | PTRACE_O_EXITKILL;
	return ptrace(PTRACE_SEIZE, tid, 0, options) < 0 ? -errno : 0;
}

static int on_status(struct session *s, pid_t tid, int status)
{
	if (tid == s->launcher) {
		s->launcher = 0;
		return 0;
	}
	int fresh = tracee_find(s, tid) == NULL;
	struct tracee *t = tracee_find_or_add(s, tid);
	if (t == NULL) {
		kill(tid, SIGKILL); /* a tracee that we cannot keep track of must not run */
		return 0;
	}
	if (WIFSTOPPED(status) && s->leaving) {
		attach_detach_one(s, t, status);
		return 0;
	}
	if (WIFSTOPPED(status))
		return on_stop(s, t, status, fresh);
	if (tid == s->program)
		s->main_status = status;
	report(s, t, EVENT_EXIT);
	s->event->result = status;
	s->awaiting = 0;
	tracee_forget(s, tid);
	for (struct tracee *orphan; s->early && (orphan = tracee_orphan(s)) != NULL;)
		release_early(s, orphan);
	return 1;
}

static int report_end(struct session *s)
{
	struct tracee *t = tracee_next(s, has_ended);
	return on_status(s, t->tid, t->end_status);
}

int trace_wait(struct session *s, int spin_first)
{
	int status;
	if (s->ended)
		return report_end(s);
	if (s->newborn)
		return report_birth(s, tracee_next(s, is_newborn));
	pid_t tid = stop_wait(s, &status, spin_first);
	return tid < 0 ? -errno : on_status(s, tid, status);
}

int trace_poll(struct session *s)
{
	int status;
	if (s->ended)
		return report_end(s);
	if (s->newborn)
		return report_birth(s, tracee_next(s, is_newborn));
	pid_t tid = waitpid(-1, &status, __WALL | __WNOTHREAD | WNOHANG);
	return tid < 0 ? -errno : tid == 0 ? -EAGAIN : on_status(s, tid, status);
}
