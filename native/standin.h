/*
 * A process that makes one call in our place. It has our memory and our descriptors, but its own number, working
 * directory and umask. The other end of a Unix socket learns the number of whoever connects or sends, and can have a
 * pidfd of it: that is to be somebody who is gone a moment later, and never the supervisor.
 */
#ifndef HERMES_STANDIN_H
#define HERMES_STANDIN_H

#include <stdint.h>

/*
 * What `make` returns, made by another process; -EINTR when a wake-up signal came meanwhile, -errno when there can be no
 * such process. `make` must take no lock and allocate nothing: the process may be killed at any moment.
 */
int64_t standin_make(int64_t (*make)(void *argument), void *argument);

/* Gives this thread a working directory and a umask of its own: whether it has them now. */
int view_make_own(void);
int view_is_own(void);

#endif
