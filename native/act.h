/* Calls that are made in a tracee's place, on what was decided on. */
#ifndef HERMES_ACT_H
#define HERMES_ACT_H

#include "session.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum { ADDRESS_SIZE = 132, HOW_SIZE = 24 };

/* One call to be made: copies of everything, so that it can be made later and elsewhere. */
struct act {
	pid_t tid;
	int nr;
	uint64_t args[ARGUMENTS];
	int as_tracee;           /* become it first */
	int apart;               /* it may have another root than we have */
	int no_stream;           /* it was allowed because its socket is no stream: it must still be none */
	int at_once;             /* others wait meanwhile: it must not wait, and says -EAGAIN where it would have to */
	int routed;              /* its control messages may lead it elsewhere than its address says */
	int masks;               /* it makes something, with this umask */
	mode_t umask;
	struct pin pins[MAX_PINS];
	uint8_t how[HOW_SIZE];   /* openat2: what the caller wrote there, as it was decided on */
	uint32_t how_size;
	uint8_t *addresses;      /* ADDRESS_SIZE bytes per message: its length, then the address; NULL: none */
	uint32_t address_count;
	size_t sent;             /* bytes of its first message that have gone, where it is made in several pieces */
	uint8_t *seen;           /* what was read of its memory while it was decided on (act-memory.c); NULL: nothing */
	uint32_t seen_size;
	int failed;              /* 0, or the -errno that it ends with before anything is done */
};

struct outcome {
	int64_t result; /* what the tracee sees; ignored when there is a descriptor for it */
	int fd;         /* -1, or a descriptor that becomes the tracee's */
	uint32_t fd_flags;
	int truncates;  /* the file is to be emptied when the tracee has its descriptor */
	pid_t as;       /* … as whom, 0 for ourselves */
};

/* The act that the answer in the buffer asks for, on the heap, with the pins taken over; NULL when memory is out. */
struct act *act_of(struct session *s, const struct event *event);
/* The act that makes a call as it is, on what is pinned, by a caller as whom we need not act. */
struct act *act_made(pid_t tid, int nr, const uint64_t *args, const struct pin *pin, struct origins *origins);
/* Whether making it could take long, so that it must not be made where others wait. */
int act_may_block(const struct act *act);
/* Whether it is to be made anew where only its caller waits: it could not be made at once. */
int act_has_to_wait(const struct act *act, const struct outcome *outcome);
struct outcome act_make(struct act *act);
void act_discard(struct act *act);
/* The part of O_TRUNC that waits for the descriptor to be the tracee's: 0 or -errno. */
int act_truncate(const struct outcome *outcome);

/* For those who make them: what a system call said, as the tracee sees it; its memory, copied whole or not at all. */
static inline int64_t act_result(int64_t result)
{
	return result < 0 ? -errno : result;
}
int act_take(const struct act *act, uint64_t address, void *into, size_t length);
/* … a text with its NUL; its length, or -EFAULT */
ssize_t act_take_string(const struct act *act, int argument, char *into, size_t size, int *truncated);
void act_keep_seen(struct act *act, const uint8_t *bytes, uint32_t length);
/* … the name of an extended attribute, 0 or -errno */
int64_t act_take_name(const struct act *act, int argument, char *name, size_t size);

/* act-data.c: a copy of `length` bytes of the caller's data from `from` on, 0 or -errno; all copies have one budget */
int64_t act_data_take(const struct act *act, const struct iovec *pieces, size_t count, size_t from, size_t length,
		      struct iovec *copy);
void act_data_free(struct iovec *copy);
/* … a copy of a tracee's descriptor, or -errno */
int descriptor_of(pid_t tid, int fd);
/* … whether that is not the kind of socket that was decided on */
int act_socket_is_other(const struct act *act, int fd);

/* act-open.c */
struct outcome act_open(struct act *act);
int act_open_may_block(const struct act *act);
/* Whether a tracee has a number left for another descriptor: asked before a file is made, which cannot be undone. */
int act_has_room(pid_t tid);
/* Whether O_TRUNC would empty this file of something: 1, 0, or -errno where it must not be emptied. */
int act_empties(int object, const struct stat *info, int flags);
/* act-namespace.c */
/* Once, before a thread leaves our namespaces for the first time. */
void act_remember_namespaces(void);
/* Whether the file is one that is opened in its caller's; if so, `fd` is what came of it, with errno. */
int act_opened_in_namespaces(const struct act *act, int object, int flags, int *fd);
/* act-file.c */
int64_t act_on_file(const struct act *act);
/* act-descriptor.c */
int64_t act_on_descriptor(const struct act *act);
/* Whether the pinned file may not become so large. Then its caller has had the signal that says so. */
int act_grows_too_large(const struct act *act, int64_t size);
/* bind.c: a socket to a path, whose folder was pinned */
int64_t act_bind_path(const struct act *act, int fd, const struct sockaddr *address, socklen_t size);
/* act-signal.c */
int64_t act_on_process(const struct act *act);
/*
 * The process that a descriptor of ours stands for, in our numbers. 0: none, or one that has ended; -ENXIO: one of a /proc
 * that we are not in; else -errno, when nobody knows.
 */
long process_behind(int fd);
/* act-socket.c */
int64_t act_on_socket(struct act *act);
/* Of a send that is given up: what the caller is told of the bytes that have gone, 0 for none. */
int64_t act_sent(struct act *act);
int act_socket_may_block(const struct act *act);

#endif
