/* Starting the program: what the broker's process does before the fork, and what its child does after it. */
#ifndef HERMES_PROGRAM_H
#define HERMES_PROGRAM_H

#include "fence.h"

/*
 * Sets the program's directory, stdin, stdout and stderr, and gives up every right for the fence except capabilities.
 * `proc`: a descriptor of a /proc that may be read although it is not the program's, or -1.
 */
void enter_fence(struct plan *plan, struct namespaces *made, int proc);
/* Waits for a byte on `go`, then executes the program. Does not return. The plan says what failed. */
void become_program(struct plan *plan, int go);
/* Closes every descriptor from `first` on except those in `kept`, which it sorts. A negative one is ignored. */
int close_all_but(unsigned int first, int32_t *kept, uint32_t count);

#endif
