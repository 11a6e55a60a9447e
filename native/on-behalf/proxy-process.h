/*
 * A process that makes one call for us and then exits. It shares our memory and descriptors, but has its own pid, working
 * directory and umask. The peer of a Unix socket learns the pid of the process that connects or sends, and can get a
 * pidfd of it. That process must have exited a moment later, and must never be the supervisor.
 */
#ifndef HERMES_PROXY_PROCESS_H
#define HERMES_PROXY_PROCESS_H

#include <stdint.h>

/*
 * Runs `make` in another process and returns its result. -EINTR: a wake-up signal came meanwhile. Other -errno: the
 * process could not be started. `make` must take no lock and allocate nothing, because the process may be killed at any
 * moment.
 */
int64_t proxy_process_run(int64_t (*make)(void *argument), void *argument);

#endif
