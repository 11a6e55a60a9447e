/* Between the launcher and the child that becomes the program. */
#ifndef HERMES_PROGRAM_H
#define HERMES_PROGRAM_H

#include "plan.h"

/* Waits for a byte on `go`, then becomes the program; does not return. Failures are told in the plan. */
void become_program(struct plan *plan, int go);
/* Closes every descriptor from `first` on but those in `kept`, which it sorts. */
int close_all_but(unsigned int first, int32_t *kept, uint32_t count);

#endif
