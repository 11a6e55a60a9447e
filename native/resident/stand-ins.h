/* The stand-ins of the resident process. */
#ifndef HERMES_RESIDENT_STAND_INS_H
#define HERMES_RESIDENT_STAND_INS_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MOST_STAND_INS = 4 };

struct stand_in {
	pid_t pid; /* 0: none */
	int control; /* its messages; closing it asks the stand-in to end */
	enum { STARTING, FREE, BUSY } state;
	int64_t since;
};

struct stand_ins {
	const char *node, *program;
	int listener;
	int failures; /* how many in a row ended before they were ready */
	struct stand_in all[MOST_STAND_INS];
};

/* Descriptors of a stand-in (src/cli/resident/stand-in.ts). */
enum { STAND_IN_LISTENER = 3, STAND_IN_CONTROL = 4 };
/* What it says. */
enum { SAYS_FREE = 'f', SAYS_BUSY = 'b' };

/* Starts those that are missing, and lets go of those that are too many. 0; -1: they do not start. */
int stand_ins_keep(struct stand_ins *all);
/* What to wait for: how many. */
size_t stand_ins_poll(const struct stand_ins *all, struct pollfd *fds);
/* Hears what they say, and which have ended. Whether one had a caller. */
int stand_ins_hear(struct stand_ins *all);
/* Asks them to end, and waits for those that are busy, for a while. */
void stand_ins_end(struct stand_ins *all);

#endif
