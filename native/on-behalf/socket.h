/* Between socket.c and send.c. */
#ifndef HERMES_SOCKET_H
#define HERMES_SOCKET_H

#include "on-behalf.h"

struct target {
	struct sockaddr_storage address;
	socklen_t size; /* 0: none */
};

/* The address that was decided on, of one message. A path in it has become a pin. 0 or -errno. */
int64_t target_of(const struct on_behalf_call *call, uint32_t message, struct target *t);
int target_is_unix_path(const struct target *t);

/* send.c: sendto, one message of sendmsg or sendmmsg, and sendmmsg */
int64_t send_to(struct on_behalf_call *call, int fd);
int64_t send_one(struct on_behalf_call *call, int fd, uint32_t message, uint64_t header, int flags);
int64_t send_many(struct on_behalf_call *call, int fd);
int send_flags(const struct on_behalf_call *call);

#endif
