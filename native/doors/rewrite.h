/* Changing a call at the trace door: its registers, the memory they point to, and whether it happens at all. */
#ifndef HERMES_REWRITE_H
#define HERMES_REWRITE_H

#include "doors.h"

unsigned long long *argument_register(struct user_regs_struct *r, int i);
/* Between the kernel and t->registers: 0 or -errno. */
int registers_load(struct tracee *t);
int registers_store(struct tracee *t);
/* Lets the tracee run, and delivers a signal to it unless that is 0. */
void tracee_resume(struct tracee *t, int signal_number);
/* Undoes every change of an argument register in t->registers. */
void rewrite_restore_registers(struct tracee *t);

/* Each of these lets the tracee run again. */
/* … the call does not happen, and returns `result` */
void rewrite_skip_call(struct tracee *t, int64_t result);
/* … it makes its call again */
void rewrite_restart_call(struct tracee *t);
/* … the call happens, changed as the answer says */
void rewrite_continue(struct session *s, struct tracee *t, const struct answer *answer, const uint8_t *bytes);
void rewrite_scratch_ready(struct tracee *t);
/* … the call is made on its behalf */
void rewrite_on_behalf(struct session *s, struct tracee *t, const struct event *event, uint32_t flags);

/* Whether this stop is the call that the tracee repeats after scratch memory was made. */
int rewrite_is_replay(struct tracee *t, const struct user_regs_struct *now);

#endif
