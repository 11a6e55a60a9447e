/* What the trace door does to a stopped tracee. */
#ifndef HERMES_CHANGE_H
#define HERMES_CHANGE_H

#include "session.h"

unsigned long long *argument(struct user_regs_struct *r, int i);
int load(struct tracee *t);
int store(struct tracee *t);
void resume(struct tracee *t, int signal_number);
void change_register(struct tracee *t, int i, uint64_t value);
void give_back_registers(struct tracee *t);

/* Each of these lets the tracee run again. */
void skip_call(struct tracee *t, int64_t result);
void make_again(struct tracee *t);
void let_happen(struct session *s, struct tracee *t, const struct answer *answer, const uint8_t *bytes);
void scratch_made(struct tracee *t);
void send_to_be_made(struct session *s, struct tracee *t, const struct event *event, uint32_t flags);

int is_replay(struct tracee *t, const struct user_regs_struct *now);

#endif
