/* Changing a call at the trace door: its registers, the memory that they point to, and whether it happens at all. */
#define _GNU_SOURCE
#include "rewrite.h"
#include "../on-behalf/on-behalf.h"
#include "../tracee/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SCRATCH_LEAST = 16 * 1024 };

/* ------------------------------------------------------------------ registers */

unsigned long long *argument_register(struct user_regs_struct *r, int i)
{
	unsigned long long *order[ARGUMENTS] = { &r->rdi, &r->rsi, &r->rdx, &r->r10, &r->r8, &r->r9 };
	return order[i];
}

int registers_load(struct tracee *t)
{
	return ptrace(PTRACE_GETREGS, t->tid, 0, &t->registers) < 0 ? -errno : 0;
}

int registers_store(struct tracee *t)
{
	return ptrace(PTRACE_SETREGS, t->tid, 0, &t->registers) < 0 ? -errno : 0;
}

/* ESRCH from ptrace means that the tracee was killed meanwhile; its exit will be reported. */
void tracee_resume(struct tracee *t, int signal_number)
{
	ptrace(t->in_call || t->every_call ? PTRACE_SYSCALL : PTRACE_CONT, t->tid, 0, (long)signal_number);
}

/*
 * A call that could not be changed must not run. After ESRCH it does not: the thread was killed in its stop, and the kernel
 * skips the call. Another thread may have called exec, so its process must go on.
 */
static void store_and_resume(struct tracee *t)
{
	int failed = registers_store(t);
	if (failed == 0)
		tracee_resume(t, 0);
	else if (failed != -ESRCH)
		kill(t->tid, SIGKILL);
}

void rewrite_restore_registers(struct tracee *t)
{
	for (int i = 0; i < ARGUMENTS; i++)
		if (t->restore & 1u << i)
			*argument_register(&t->registers, i) = t->original[i];
	t->restore = 0;
}

/* With number -1 the kernel skips the call and keeps our result. */
void rewrite_skip_call(struct tracee *t, int64_t result)
{
	rewrite_restore_registers(t);
	t->registers.orig_rax = (unsigned long long)-1;
	t->registers.rax = (unsigned long long)result;
	t->in_call = t->want_return = 0;
	store_and_resume(t);
}

/* Puts the tracee back to the instruction that made the call. */
void rewrite_restart_call(struct tracee *t)
{
	struct user_regs_struct again = t->registers;
	again.rip -= SYSCALL_LENGTH;
	again.rax = t->registers.orig_rax;
	again.orig_rax = (unsigned long long)-1; /* or the kernel might take it for an interrupted call */
	ptrace(PTRACE_SETREGS, t->tid, 0, &again);
	tracee_resume(t, 0);
}

/* ------------------------------------------------------------------ scratch memory */

static uint32_t aligned(uint32_t length)
{
	return (length + 15u) & ~15u;
}

static uint32_t scratch_needed(const struct answer *answer)
{
	uint32_t total = 0;
	for (uint32_t i = 0; i < answer->write_count && i < MAX_WRITES; i++)
		if (answer->writes[i].kind == WRITE_POINTER)
			total += aligned(answer->writes[i].length);
	return total;
}

/*
 * New argument bytes need memory in the tracee that nothing else uses. The stack will not do: a goroutine's stack ends a
 * few hundred bytes below its pointer. So the tracee calls mmap in place of its own call, and then makes its own call
 * again.
 */
static void make_scratch(struct session *s, struct tracee *t, const struct answer *answer, uint32_t needed)
{
	/* If a signal handler's call came in between, that call needs it first. The interrupted call is decided on again. */
	free(t->pending);
	t->pending = malloc(sizeof *answer + REPLY_SIZE);
	if (t->pending == NULL) {
		rewrite_skip_call(t, -ENOMEM);
		return;
	}
	memcpy(t->pending, answer, sizeof *answer);
	memcpy(t->pending + 1, s->buffer + REPLY_OFFSET, REPLY_SIZE);
	t->scratch_size = needed < SCRATCH_LEAST ? SCRATCH_LEAST : needed;

	struct user_regs_struct own = t->registers;
	t->registers.orig_rax = t->registers.rax = SYS_mmap;
	t->registers.rdi = 0;
	t->registers.rsi = t->scratch_size;
	t->registers.rdx = PROT_READ | PROT_WRITE;
	t->registers.r10 = MAP_PRIVATE | MAP_ANONYMOUS;
	t->registers.r8 = (unsigned long long)-1;
	t->registers.r9 = 0;
	t->phase = PHASE_MAKING_SCRATCH;
	t->in_call = 1;
	registers_store(t);
	tracee_resume(t, 0);
	t->registers = own;
}

void rewrite_scratch_ready(struct tracee *t)
{
	struct user_regs_struct after;
	t->in_call = 0;
	if (ptrace(PTRACE_GETREGS, t->tid, 0, &after) < 0)
		return;
	if ((int64_t)after.rax < 0 && (int64_t)after.rax >= -4095) {
		free(t->pending);
		t->pending = NULL;
		t->scratch = t->scratch_size = 0;
		t->phase = PHASE_IDLE;
		t->registers.rax = (unsigned long long)-ENOMEM;
		registers_store(t);
		tracee_resume(t, 0);
		return;
	}
	t->scratch = after.rax;
	t->phase = PHASE_REPLAYING;
	rewrite_restart_call(t);
}

/*
 * A signal handler may run in between, make calls of its own, and change the registers that the call is repeated with.
 * Then it is another call, and needs its own decision.
 */
int rewrite_is_replay(struct tracee *t, const struct user_regs_struct *now)
{
	const struct user_regs_struct *then = &t->registers;
	return t->phase == PHASE_REPLAYING && now->rip == then->rip && now->rsp == then->rsp &&
	       now->orig_rax == then->orig_rax && now->rdi == then->rdi && now->rsi == then->rsi && now->rdx == then->rdx &&
	       now->r10 == then->r10 && now->r8 == then->r8 && now->r9 == then->r9;
}

/* ------------------------------------------------------------------ a changed call */

static void set_register(struct tracee *t, int i, uint64_t value)
{
	if (!(t->restore & 1u << i)) {
		t->original[i] = *argument_register(&t->registers, i);
		t->restore |= 1u << i;
	}
	*argument_register(&t->registers, i) = value;
}

static int point_arguments(struct tracee *t, const struct answer *answer, const uint8_t *bytes)
{
	uint64_t address = t->scratch;
	for (uint32_t i = 0; i < answer->write_count && i < MAX_WRITES; i++) {
		const struct write *w = &answer->writes[i];
		if (w->kind != WRITE_POINTER)
			continue;
		if (w->argument >= ARGUMENTS || w->offset > REPLY_SIZE || w->length > REPLY_SIZE - w->offset)
			return -EINVAL;
		int failed = memory_write(t->tid, address, bytes + w->offset, w->length);
		if (failed)
			return failed;
		set_register(t, (int)w->argument, address);
		address += aligned(w->length);
	}
	return 0;
}

void rewrite_continue(struct session *s, struct tracee *t, const struct answer *answer, const uint8_t *bytes)
{
	uint32_t needed = scratch_needed(answer);
	if (needed > t->scratch_size || (needed && !t->scratch)) {
		make_scratch(s, t, answer, needed);
		return;
	}
	int failed = apply_writes(t->tid, answer, bytes);
	if (!failed)
		failed = point_arguments(t, answer, bytes);
	for (int i = 0; i < ARGUMENTS && !failed; i++)
		if (answer->registers & 1u << i)
			set_register(t, i, answer->args[i]);
	if (failed || (t->restore && registers_store(t) < 0)) {
		rewrite_skip_call(t, failed ? failed : -EFAULT);
		return;
	}
	t->want_return = (answer->flags & ANSWER_WANT_RETURN) != 0;
	t->in_call = t->want_return || t->restore;
	tracee_resume(t, 0);
}

/* ------------------------------------------------------------------ a call that is made on its behalf */

/*
 * Without a listener, only calls that return no descriptor and do not block are made here. TypeScript asks for no others.
 */
static void make_at_once(struct tracee *t, struct on_behalf_call *call, uint32_t flags)
{
	int64_t result = -ENOSYS;
	if (!on_behalf_may_block(call)) {
		struct outcome outcome = on_behalf_make(call);
		result = outcome.result;
		if (outcome.fd >= 0)
			close(outcome.fd);
	}
	on_behalf_free(call);
	t->skipped = (int32_t)t->registers.orig_rax;
	int wanted = (flags & ANSWER_WANT_RETURN) != 0;
	rewrite_restore_registers(t);
	t->registers.orig_rax = (unsigned long long)-1;
	t->registers.rax = (unsigned long long)result;
	t->in_call = t->want_return = wanted;
	store_and_resume(t);
}

/*
 * Only a notification lets us put a descriptor into a tracee. So the call continues with a mark in bits that no call
 * reads. The kernel runs the filter again after this stop, and the filter sends marked calls to the listener.
 */
void rewrite_on_behalf(struct session *s, struct tracee *t, const struct event *event, uint32_t flags)
{
	struct on_behalf_call *call = on_behalf_from_answer(s, event);
	if (call == NULL) {
		rewrite_skip_call(t, -ENOMEM);
		return;
	}
	if (s->listener < 0) {
		make_at_once(t, call, flags);
		return;
	}
	set_register(t, 5, (uint64_t)s->on_behalf_mark << 32 | (uint32_t)*argument_register(&t->registers, 5));
	t->want_return = (flags & ANSWER_WANT_RETURN) != 0;
	t->in_call = 1;
	t->on_behalf = call;
	s->on_behalf_count++;
	store_and_resume(t);
}
