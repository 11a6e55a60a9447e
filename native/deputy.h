/* Acts that may take long are made in a thread of their own, so that only the caller waits. */
#ifndef HERMES_DEPUTY_H
#define HERMES_DEPUTY_H

#include "act.h"

/* Makes the act, now or later, and answers the notification; the act and what it holds are the deputy's from now on. */
void deputy_serve(int listener, struct keep *keep, uint64_t id, struct act *act);

/* The notification of a call that has been made already. */
void deputy_answer(int listener, struct keep *keep, uint64_t id, const struct outcome *outcome);

#endif
