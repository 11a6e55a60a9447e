/*
 * What a caller and the user's resident process say to each other, over a Unix stream socket.
 *
 *	stand-in: struct hello, and what it sees of the caller (kernel/place.h)
 *	caller:   struct request with the caller's folder as a descriptor, what it sees of the resident process, words,
 *	          environment, input
 *	stand-in: struct reply, what belongs on stdout, what belongs on stderr
 */
#ifndef HERMES_RESIDENT_H
#define HERMES_RESIDENT_H

#include <stdint.h>

enum {
	RESIDENT_MAGIC = 0x48525331,
	MAX_WORDS = 64 * 1024,
	MAX_ENVIRONMENT = 4 * 1024 * 1024,
	MAX_INPUT = 8 * 1024 * 1024, /* longer input is judged by the caller's own process */
	MAX_REPLY = 64 * 1024 * 1024,
	MAX_SIGHT = 128,
};

struct hello {
	uint32_t magic;
	uint32_t sight_size;
};

struct request {
	uint32_t magic;
	uint32_t umask;
	uint32_t sight_size;
	uint32_t words_size;       /* each ends with a NUL */
	uint32_t environment_size; /* likewise */
	uint32_t input_size;
};

/* A status that is none: the caller's own process is to do it. */
enum { REPLY_DECLINED = 0xffff };

struct reply {
	uint32_t magic;
	uint32_t status;
	uint32_t stdout_size;
	uint32_t stderr_size;
};

#endif
