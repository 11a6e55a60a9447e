/*
 * What stays with a process after HERMES has put a filter into it. A filter cannot be taken out again, and a call that it
 * sends to a listener which nobody holds fails. So a small process of its own, the keeper, holds the listener too: while
 * HERMES is there it only watches; when HERMES has gone, however it went, it lets every call happen.
 */
#ifndef HERMES_KEEP_H
#define HERMES_KEEP_H

#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

enum {
	KEEP_MAGIC = 0x4b524d48,
	MAX_HELD = 8192,
	NOTE_SIZE = 64 * 1024,
	/* Descriptors of the keeper, for a HERMES that comes later. */
	KEPT_LISTENER = 10,
	KEPT_MEMORY = 11,
};

/* To a keeper that is alone: somebody else has the listener now. Nobody sends this one by accident. */
#define HAND_OVER_SIGNAL (SIGRTMIN + 9)

/* In a memfd that the supervisor and the keeper map. */
struct keep {
	uint32_t magic;
	int32_t pid; /* the process that was attached to */
	int32_t supervisor;
	int32_t worker;
	int32_t wake_signal;
	atomic_int alone;    /* the supervisor has gone */
	atomic_int leaving;  /* it is about to */
	atomic_int deputies; /* calls that are being made in the program's place */
	/*
	 * Where the kernel puts the notification that is being received: a supervisor that is killed at whatever moment has
	 * left its number here, or in `held`, until it is answered.
	 */
	struct seccomp_notif inbox;
	atomic_uint held_to; /* no number lies behind this */
	_Atomic uint64_t held[MAX_HELD];
	/* What the filter stops, in words that only those who wrote them read. */
	uint32_t note_size;
	char note[NOTE_SIZE];
};

/* A notification that is not answered at once. Returns 0 when there is no room for it. */
static inline int keep_hold(struct keep *keep, uint64_t id)
{
	for (unsigned int i = 0; keep != NULL && i < MAX_HELD; i++) {
		uint64_t nobody = 0;
		if (!atomic_compare_exchange_strong(&keep->held[i], &nobody, id))
			continue;
		unsigned int to = atomic_load(&keep->held_to);
		while (to < i + 1 && !atomic_compare_exchange_weak(&keep->held_to, &to, i + 1))
			;
		keep->inbox.id = 0;
		return 1;
	}
	return keep == NULL;
}

/* It is answered. */
static inline void keep_done(struct keep *keep, uint64_t id)
{
	if (keep == NULL)
		return;
	if (keep->inbox.id == id)
		keep->inbox.id = 0;
	for (unsigned int i = 0, to = atomic_load(&keep->held_to); i < to; i++) {
		uint64_t expected = id;
		if (atomic_compare_exchange_strong(&keep->held[i], &expected, 0))
			return;
	}
}

/* hermes-launch under the name of hermes-keep: PID SOCKET_FD MEMORY_FD PIDFD */
int keep_main(int argc, char **argv);

#endif
