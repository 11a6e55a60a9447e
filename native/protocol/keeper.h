/*
 * The memory that the supervisor shares with a keeper. A filter that HERMES has put into a running process cannot be
 * removed, and its calls fail when no process holds its listener. So a small process, the keeper, holds the listener too.
 * While HERMES runs the keeper only watches. When HERMES has ended, also by a signal, the keeper lets every call continue.
 */
#ifndef HERMES_KEEPER_H
#define HERMES_KEEPER_H

#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

enum {
	KEEPER_MAGIC = 0x4b524d48,
	MAX_HELD = 8192,
	NOTE_SIZE = 64 * 1024,
	/* Descriptors of the keeper, for a HERMES that attaches later. */
	KEEPER_LISTENER_FD = 10,
	KEEPER_MEMORY_FD = 11,
};

/*
 * To a keeper whose supervisor has ended: another HERMES has the listener now. No other program sends this signal by
 * accident.
 */
#define HAND_OVER_SIGNAL (SIGRTMIN + 9)

/* A memfd that supervisor and keeper map. */
struct keeper_memory {
	uint32_t magic;
	int32_t pid;               /* the process that HERMES attached to */
	int32_t supervisor;
	int32_t worker;
	int32_t wake_signal;
	atomic_int alone;          /* the supervisor has ended */
	atomic_int leaving;        /* the supervisor is about to detach */
	atomic_int blocking_calls; /* how many blocking-call threads are at work */
	/*
	 * The kernel writes the notification that is being received here. So if the supervisor is killed at any moment,
	 * the id of every unanswered notification is here or in `held`.
	 */
	struct seccomp_notif inbox;
	atomic_uint held_to;       /* one more than the last index in use */
	_Atomic uint64_t held[MAX_HELD];
	/* What the filter stops, as the HERMES that installed it wrote it. */
	uint32_t note_size;
	char note[NOTE_SIZE];
};

/* Notes a notification that is not answered at once. Returns 0 when there is no room for it. */
static inline int keeper_hold(struct keeper_memory *keeper, uint64_t id)
{
	for (unsigned int i = 0; keeper != NULL && i < MAX_HELD; i++) {
		uint64_t empty = 0;
		if (!atomic_compare_exchange_strong(&keeper->held[i], &empty, id))
			continue;
		unsigned int to = atomic_load(&keeper->held_to);
		while (to < i + 1 && !atomic_compare_exchange_weak(&keeper->held_to, &to, i + 1))
			;
		keeper->inbox.id = 0;
		return 1;
	}
	return keeper == NULL;
}

/* The notification has been answered. */
static inline void keeper_release(struct keeper_memory *keeper, uint64_t id)
{
	if (keeper == NULL)
		return;
	if (keeper->inbox.id == id)
		keeper->inbox.id = 0;
	for (unsigned int i = 0, to = atomic_load(&keeper->held_to); i < to; i++) {
		uint64_t expected = id;
		if (atomic_compare_exchange_strong(&keeper->held[i], &expected, 0))
			return;
	}
}

#endif
