/*
 * Messages between the supervisor and the broker. The broker is a process behind the program's fence, with the program's
 * identity, root, namespaces and Landlock domain. It waits at the listener, answers what the verdict cache allows, resolves
 * what the program names, holds it open (pins), and makes the calls that the supervisor has allowed. What the broker cannot
 * reach, the program could not reach either. The supervisor decides.
 */
#ifndef HERMES_BROKER_H
#define HERMES_BROKER_H

#include "layout.h"

#include <linux/seccomp.h>

enum broker_operation {
	BROKER_LISTENER = 1,  /* comes with the listener of the program's filter: begin to wait there; no reply */
	BROKER_RESOLVE = 2,   /* path_resolve(): bytes = the path. Reply: its pin, its name */
	BROKER_PIN_FD = 3,    /* path_pin_fd(). Reply: its pin, its name */
	BROKER_RELEASE = 4,   /* pin_release(pin) */
	BROKER_READ = 5,      /* `length` bytes at `number` of the regular file in the pin */
	BROKER_STAT = 6,      /* Reply: a struct pin_facts of the pin, `flags` levels above */
	BROKER_PROCESS = 7,   /* process_of_fd() of the descriptor in the pin */
	BROKER_MAKE_CALL = 8, /* of notification `number`: bytes = a struct on_behalf_call, addresses, snapshot; no reply */
};

enum { BROKER_BYTES = 2 * 4096, BROKER_MAX = BUFFER_SIZE };

struct broker_request {
	uint32_t operation;
	int32_t tid;
	int32_t fd;      /* dirfd, or a descriptor of the tracee; of BROKER_LISTENER: on_behalf_mark (session.h) */
	int32_t flags;
	uint64_t number; /* an offset, or the id of a notification */
	uint64_t length; /* of the bytes that follow, or that are wanted */
	struct pin pin;
};

struct broker_reply {
	int64_t result;
	struct pin pin;
	uint8_t bytes[BROKER_BYTES];
};

/* A call that the supervisor has to decide on, and what its path reaches if the broker has resolved it. Path and name follow. */
struct forwarded_call {
	struct seccomp_notif request;
	int32_t known;
	int32_t dirfd;      /* arguments of path_resolve() … */
	int32_t flags;
	uint32_t path_size;
	int64_t length;     /* … and its result */
	struct pin pin;
	uint32_t name_size;
	uint32_t is_last; /* from now on the supervisor waits at the listener, until it hands it back */
};

#endif
