/* See sender.c. */
#ifndef HERMES_SENDER_H
#define HERMES_SENDER_H

#include "act.h"
#include "identity.h"

#include <sys/socket.h>

/* 0, or -errno when the caller may not say that. */
int64_t sender_may_be(const struct act *act, const struct ucred *who);
/* What the message says, NULL when it says nothing. */
struct ucred *sender_named(struct msghdr *header);
int sender_is(const struct ucred *who, const struct identity *i);

#endif
