/*
 * The supervisor's side of protocol/broker.h. `broker` is the socket to it; 0: there is no broker (attach), and this
 * process does the work itself. A pin knows which of the two holds it.
 */
#ifndef HERMES_BROKER_CLIENT_H
#define HERMES_BROKER_CLIENT_H

#include "../on-behalf/on-behalf.h"
#include "../protocol/broker.h"
#include "../tracee/path.h"

int broker_give_listener(int broker, int listener, uint32_t on_behalf_mark);
/* The next call that the broker forwards, and whether it has left the listener to us: 0 or -errno; -ENOENT when there will be no more. */
int broker_next(int broker, int calls, struct seccomp_notif *request, int *is_last);
/* The call is about to continue: releases what its path reaches, if no policy has asked for it. */
void broker_drop_early_resolution(int broker);
/* Ends the conversation and frees what is kept of it. */
void broker_close(int broker);
ssize_t broker_resolve(int broker, pid_t tid, int dirfd, const char *path, int flags, struct pin *pin, char *into, size_t size);
ssize_t broker_pin_fd(int broker, pid_t tid, int fd, struct pin *pin, char *into, size_t size);
void broker_release(struct pin *pin);
/* The same without waiting for it: broker_settle(), or the next request, does. */
void broker_release_later(struct pin *pin);
void broker_settle(int broker);
ssize_t broker_read(const struct pin *pin, uint64_t offset, void *into, size_t length);
int broker_stat(const struct pin *pin, int levels, struct pin_facts *facts);
long broker_process(const struct pin *pin);
/* Has the broker make the call, and takes it over. 0, or -errno when the broker will not make it. */
int broker_make_call(int broker, uint64_t id, struct on_behalf_call *call);
/* Frees a call that will not be made, with its pins. */
void broker_free_call(struct on_behalf_call *call);

#endif
