/* The broker's fast path: it answers at the listener what the verdict cache allows, and forwards every other call. */
#ifndef HERMES_FAST_PATH_H
#define HERMES_FAST_PATH_H

#include <stdint.h>

struct verdict_cache;

/* Starts the first fast-path thread. Calls that need a decision go to the socket `calls`. 0 or -errno. */
int fast_path_start(int listener, int calls, uint32_t on_behalf_mark, struct verdict_cache *cache);

#endif
