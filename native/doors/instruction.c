/*
 * Instructions that fault because the launcher asked the kernel to trap them (PR_SET_TSC). The kernel raises a SIGSEGV for
 * each. A SIGSEGV of the program itself reaches it unchanged.
 */
#define _GNU_SOURCE
#include "rewrite.h"
#include "../tracee/memory.h"

#include <cpuid.h>
#include <string.h>
#include <sys/ptrace.h>
#include <x86intrin.h>

enum { LONGEST = 15, RESULTS = 4, LEAF = 4, SUBLEAF = 5 };

/* An instruction's result registers, in the order of event.args and answer.args. */
static unsigned long long *result_register(struct user_regs_struct *r, int i)
{
	unsigned long long *order[RESULTS] = { &r->rax, &r->rbx, &r->rcx, &r->rdx };
	return order[i];
}

static int is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: /* segments */
	case 0x66: case 0x67: case 0xf2: case 0xf3:
		return 1;
	default:
		return (byte & 0xf0) == 0x40; /* REX */
	}
}

/* Which instruction the bytes are, and its length with prefixes. */
static enum instruction recognise(const uint8_t *bytes, size_t count, int *length)
{
	size_t at = 0;
	while (at < count && is_prefix(bytes[at]))
		at++;
	const uint8_t *op = bytes + at;
	size_t left = count - at;
	if (left >= 2 && op[0] == 0x0f && op[1] == 0x31) {
		*length = (int)at + 2;
		return INSTRUCTION_RDTSC;
	}
	if (left >= 3 && op[0] == 0x0f && op[1] == 0x01 && op[2] == 0xf9) {
		*length = (int)at + 3;
		return INSTRUCTION_RDTSCP;
	}
	return INSTRUCTION_NONE;
}

int instruction_traps(const struct session *s)
{
	return s->plan != NULL && (s->plan->flags & PLAN_TRAP_TSC);
}

/*
 * Whether the fault is of one of these instructions: the kernel's own signal (SI_KERNEL), raised by an exception and not
 * by a call (orig_rax), at bytes that are such an instruction.
 */
enum instruction instruction_faulted(struct session *s, struct tracee *t, int *length)
{
	uint8_t bytes[LONGEST];
	siginfo_t info;
	if (!instruction_traps(s) || ptrace(PTRACE_GETSIGINFO, t->tid, 0, &info) < 0 ||
	    info.si_code != SI_KERNEL || registers_load(t) < 0 || t->registers.orig_rax != (unsigned long long)-1)
		return INSTRUCTION_NONE;
	ssize_t got = memory_read(t->tid, t->registers.rip, bytes, sizeof bytes);
	return got < 0 ? INSTRUCTION_NONE : recognise(bytes, (size_t)got, length);
}

/* The values that the instruction would have given. */
void instruction_report(struct event *event, const struct tracee *t, enum instruction which, int length)
{
	unsigned int processor = 0;
	uint64_t counter = __rdtscp(&processor);
	event->nr = (int32_t)which;
	event->result = length;
	event->ip = t->registers.rip;
	event->sp = t->registers.rsp;
	event->args[0] = (uint32_t)counter;
	event->args[1] = t->registers.rbx;
	event->args[2] = which == INSTRUCTION_RDTSCP ? processor : t->registers.rcx;
	event->args[3] = counter >> 32;
	event->args[LEAF] = t->registers.rax;
	event->args[SUBLEAF] = t->registers.rcx;
	memcpy(event->registers, &t->registers, sizeof t->registers);
}

/* ANSWER_CONTINUE: as if it had run, except for the registers in the answer. ANSWER_RETURN: only those registers. */
void instruction_answer(struct tracee *t, const struct event *event, const struct answer *answer)
{
	if (answer->flags & ANSWER_DELIVER) {
		tracee_resume(t, SIGSEGV);
		return;
	}
	for (int i = 0; i < RESULTS; i++) {
		if (answer->registers & 1u << i)
			*result_register(&t->registers, i) = answer->args[i];
		else if (answer->action == ANSWER_CONTINUE)
			*result_register(&t->registers, i) = event->args[i];
	}
	t->registers.rip += (unsigned long long)event->result;
	registers_store(t);
	instrument_block_again(t, SIGSEGV);
	tracee_resume(t, 0);
}

void instruction_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t into[RESULTS])
{
	__cpuid_count(leaf, subleaf, into[0], into[1], into[2], into[3]);
}
