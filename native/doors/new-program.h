/* See new-program.c. */
#ifndef HERMES_NEW_PROGRAM_H
#define HERMES_NEW_PROGRAM_H

#include "../session/session.h"

#include <limits.h>

/* Fills the slots of the event that is about to be reported. Returns how many bytes they have, 0 when it could not be read. */
uint32_t new_program_read(struct session *s, pid_t pid);

#endif
