/* Calls that the supervisor makes in a tracee's place, on what was decided on. */
#ifndef HERMES_ACT_H
#define HERMES_ACT_H

#include "session.h"

#include <errno.h>

enum { ADDRESS_SIZE = 132, HOW_SIZE = 24 };

/* One call to be made: copies of everything, so that it can be made later and elsewhere. */
struct act {
	pid_t tid;
	int nr;
	uint64_t args[ARGUMENTS];
	int as_tracee;           /* become it first */
	int apart;               /* it may have another root than we have */
	int routed;              /* its control messages may lead it elsewhere than its address says */
	int masks;               /* it makes something, with this umask */
	mode_t umask;
	struct pin pins[MAX_PINS];
	uint8_t how[HOW_SIZE];   /* openat2: what the caller wrote there, as it was decided on */
	uint32_t how_size;
	uint8_t *addresses;      /* ADDRESS_SIZE bytes per message: its length, then the address; NULL: none */
	uint32_t address_count;
};


struct outcome {
	int64_t result; /* what the tracee sees; ignored when there is a descriptor for it */
	int fd;         /* -1, or a descriptor that becomes the tracee's */
	uint32_t fd_flags;
};

/* The act that the answer in the buffer asks for, on the heap, with the pins taken over; NULL when memory is out. */
struct act *act_of(struct session *s, const struct event *event);
/* Whether making it could take long, so that it must not be made where others wait. */
int act_may_block(const struct act *act);
struct outcome act_make(struct act *act);
void act_discard(struct act *act);

/* For those who make them: what a system call said, as the tracee sees it; its memory, copied whole or not at all. */
static inline int64_t act_result(int64_t result)
{
	return result < 0 ? -errno : result;
}
int act_take(const struct act *act, uint64_t address, void *into, size_t length);
/* … the name of an extended attribute, 0 or -errno */
int64_t act_take_name(const struct act *act, int argument, char *name, size_t size);

/* act-open.c */
struct outcome act_open(struct act *act);
int act_open_may_block(const struct act *act);
/* act-file.c */
int64_t act_on_file(const struct act *act);
/* act-descriptor.c */
int64_t act_on_descriptor(const struct act *act);
/* Whether the pinned file may not become so large. Then its caller has had the signal that says so. */
int act_grows_too_large(const struct act *act, int64_t size);
/* act-socket.c */
int descriptor_of(pid_t tid, int fd);
int64_t act_on_socket(const struct act *act);
int act_socket_may_block(const struct act *act);

#endif
