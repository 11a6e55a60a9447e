#ifndef HERMES_LAUNCHER_H
#define HERMES_LAUNCHER_H

#include "../protocol/plan.h"

/* Maps the supervisor's orders. NULL: they are none. */
struct plan *map_plan(int fd);

#endif
