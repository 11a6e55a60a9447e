/* The signal that interrupts a blocked thread of ours. Its handler does nothing. */
#ifndef HERMES_WAKE_SIGNAL_H
#define HERMES_WAKE_SIGNAL_H

#include <signal.h>

#define WAKE_SIGNAL (SIGRTMIN + 7)

#endif
