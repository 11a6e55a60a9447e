/* The supervisor's side of a keeper (protocol/keeper.h). Each returns 0 or -errno. */
#ifndef HERMES_KEEPER_CLIENT_H
#define HERMES_KEEPER_CLIENT_H

#include "../protocol/keeper.h"
#include "attach.h"

int keeper_start(struct session *s, const struct attach_order *order);
/* Gives it the listener, and waits until it has it. */
int keeper_give_listener(struct session *s);
/* Takes the listener over from the keeper of an earlier HERMES. */
int keeper_take_over(struct session *s, pid_t keeper);
/* What the filter of an earlier HERMES stops: the note's length, or -errno; -EBUSY while that HERMES runs. */
int64_t keeper_note(pid_t keeper, char *into, size_t size);

#endif
