/* See household.c. */
#ifndef HERMES_HOUSEHOLD_H
#define HERMES_HOUSEHOLD_H

#include "plan.h"

#include <sys/types.h>

/* What it shares with the supervisor (broker.h). */
struct house_doors {
	int broker;
	int calls;
	struct settled *table;
};

/*
 * The launcher's child: enters the fence, starts the program (which waits for a byte on `go`), serves the supervisor
 * and tells the launcher on `launcher` what becomes of the program. Does not return.
 */
_Noreturn void keep_house(struct plan *plan, const struct house_doors *doors, int launcher, int go);

/* Ends every process below `pid`; those that are stopped cannot fork meanwhile. */
void kill_below(pid_t pid);
/* Ends every process below this one, and waits until they are gone. */
void end_all_below(void);

#endif
