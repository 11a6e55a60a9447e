/* Making an on-behalf call and answering its notification. A call that may block is made by a thread of its own. */
#ifndef HERMES_BLOCKING_CALL_H
#define HERMES_BLOCKING_CALL_H

#include "on-behalf.h"

struct keeper_memory;

/* Makes the call now, or in a blocking-call thread, and answers the notification. Takes over the call and its pins. */
void on_behalf_serve(int listener, struct keeper_memory *keeper, uint64_t id, struct on_behalf_call *call);
/* answer.c: answers the notification of a call that has been made. */
void on_behalf_answer(int listener, struct keeper_memory *keeper, uint64_t id, const struct outcome *outcome);

#endif
