/* Waiting until another thread changes a word, and waking the thread that waits. */
#ifndef HERMES_FUTEX_H
#define HERMES_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Waits while the word is `value`, at most this many nanoseconds, 0 for no limit. It may return early. */
static inline void futex_wait(void *word, unsigned int value, long ns)
{
	struct timespec patience = { 0, ns };
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, ns ? &patience : NULL, NULL, 0);
}

static inline void futex_wake(void *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* The same for a word in memory that several processes share. */
static inline void futex_wait_shared(void *word, unsigned int value)
{
	syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static inline void futex_wake_shared(void *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#endif
