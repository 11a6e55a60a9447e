/*
 * The broker: a process of its own behind the program's fence, with the program's identity, root, namespaces and Landlock
 * domain. It waits at the listener, answers what needs no decision (front.c), resolves what the program names, holds it open
 * (pins), and makes the calls that the supervisor has allowed (broker.c). What the broker cannot reach, the program could
 * not. The supervisor decides, and asks it over a socket.
 */
#ifndef HERMES_BROKER_H
#define HERMES_BROKER_H

#include "act.h"

enum broker_order {
	BROKER_LISTENER = 1, /* comes with the listener of the program's filter: it begins to wait there; no reply */
	BROKER_RESOLVE = 2,  /* path_resolve(): bytes = the path. Reply: its pin, its name */
	BROKER_PIN_FD = 3,   /* path_pin_fd(): reply: its pin, its name */
	BROKER_RELEASE = 4,  /* pin_release(pin) */
	BROKER_READ = 5,     /* `length` bytes at `number` of the regular file in the pin */
	BROKER_STAT = 6,     /* reply: a struct pin_facts of the pin, `flags` levels above */
	BROKER_PROCESS = 7,  /* process_behind() the descriptor in the pin */
	BROKER_ACT = 8,      /* makes the call that notification `number` waits for: bytes = a struct act, then addresses; no reply */
};

enum { BROKER_BYTES = 2 * 4096, BROKER_MOST = BUFFER_SIZE };

struct broker_request {
	uint32_t order;
	int32_t tid;
	int32_t fd;      /* dirfd, or a descriptor of the tracee; of the listener: the mark of acts (session.h) */
	int32_t flags;
	uint64_t number; /* an offset, or the id of a notification */
	uint64_t length; /* of what follows, or of what is wanted */
	struct pin pin;
};

struct broker_reply {
	int64_t result;
	struct pin pin;
	uint8_t bytes[BROKER_BYTES];
};

/* A call that has to be decided on, with what its path reaches, if the broker has looked; then come the path and the name. */
struct passed_on {
	struct seccomp_notif request;
	int32_t known;
	int32_t dirfd;      /* what path_resolve() was given … */
	int32_t flags;
	uint32_t path_size;
	int64_t length;     /* … and returned */
	struct pin pin;
	uint32_t name_size;
	uint32_t reserved;
};

/* The broker's side (broker.c): serves until the supervisor closes its end. Returns only then. */
struct settled;
void broker_serve(int socket, int calls, struct settled *table);

/* front.c: waits at the listener, and sends what has to be decided on to `calls`. 0 or -errno. */
int front_open(int listener, int calls, uint32_t act_mark, struct settled *table);

/*
 * The supervisor's side (broker-client.c). `broker` is the socket; 0: there is none, and this process does it itself. Pins
 * know whose they are.
 */
int broker_take(int broker, int listener, uint32_t act_mark);
/* The next call that it passes on: 0 or -errno, -ENOENT when there will be none. */
int broker_next(int broker, int calls, struct seccomp_notif *request);
/* The call is about to go on: what its path reaches, and nobody asked for, is let go. */
void broker_forget(int broker);
/* The session is over: what is kept of it is forgotten. */
void broker_close(int broker);
ssize_t broker_resolve(int broker, pid_t tid, int dirfd, const char *path, int flags, struct pin *pin, char *into, size_t size);
ssize_t broker_pin_fd(int broker, pid_t tid, int fd, struct pin *pin, char *into, size_t size);
void broker_release(struct pin *pin);
ssize_t broker_read(const struct pin *pin, uint64_t offset, void *into, size_t length);
int broker_stat(const struct pin *pin, int levels, struct pin_facts *facts);
long broker_process(const struct pin *pin);
/* The act and what it holds are the broker's from now on. 0, or -errno when nobody will make it. */
int broker_act(int broker, uint64_t id, struct act *act);
/* It is not to be made after all. */
void broker_discard(struct act *act);

#endif
