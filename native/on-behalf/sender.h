/* See sender.c. */
#ifndef HERMES_SENDER_H
#define HERMES_SENDER_H

#include "on-behalf.h"
#include "../tracee/identity.h"

#include <sys/socket.h>

/* Whether the caller may name this sender: 0 or -errno. */
int64_t sender_may_be(const struct on_behalf_call *call, const struct ucred *who);
/* The sender that the message names, NULL for none. */
struct ucred *sender_named(struct msghdr *header);
int sender_is(const struct ucred *who, const struct identity *i);

#endif
