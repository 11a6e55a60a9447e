/* The broker's process: see broker-main.c. */
#ifndef HERMES_HOUSEHOLD_H
#define HERMES_HOUSEHOLD_H

#include "../protocol/plan.h"

#include <sys/types.h>

/* The channels to the supervisor (protocol/broker.h), and the memory shared with it. */
struct broker_channels {
	int broker;
	int calls;
	struct verdict_cache *cache;
};

/*
 * The launcher's child. Enters the fence, starts the program (which waits for a byte on `go`), serves the supervisor, and
 * reports to the launcher on `launcher` what becomes of the program. Does not return.
 */
_Noreturn void broker_main(struct plan *plan, const struct broker_channels *channels, int launcher, int go);

/* Kills every descendant of `pid`. They are stopped first, so that they cannot fork meanwhile. */
void kill_below(pid_t pid);
/* Kills every descendant of this process, and waits until they have ended. */
void end_all_below(void);

#endif
