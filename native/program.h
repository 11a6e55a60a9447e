/* Between the launcher and the child that becomes the program. */
#ifndef HERMES_PROGRAM_H
#define HERMES_PROGRAM_H

#include "fence.h"

/*
 * The program's directory, stdin, stdout and stderr, and everything that a process gives up for the fence but its capabilities. `proc`: a
 * descriptor of a /proc that may be read although it is not the program's, or -1.
 */
void stand_behind_fence(struct plan *plan, struct namespaces *made, int proc);
/* Waits for a byte on `go`, then becomes the program; does not return. Failures are told in the plan. */
void become_program(struct plan *plan, int go);
/* Closes every descriptor from `first` on but those in `kept`, which it sorts. */
int close_all_but(unsigned int first, int32_t *kept, uint32_t count);

#endif
