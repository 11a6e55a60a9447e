/* Between socket.c and send.c. */
#ifndef HERMES_SOCKET_H
#define HERMES_SOCKET_H

#include "on-behalf.h"

/* MSG_CMSG_COMPAT, which user space may not set */
static const unsigned int COMPATIBLE_LAYOUT = 0x80000000u;

struct target {
	struct sockaddr_storage address;
	socklen_t size; /* 0: none */
	int is_path;    /* a path of a Unix socket, which this call would look up */
};

/* The address that was decided on, of one message, for this socket. A path in it has become a pin. 0 or -errno. */
int64_t target_of(const struct on_behalf_call *call, int fd, uint32_t message, struct target *t);

/* send.c: sendto, one message of sendmsg or sendmmsg, and sendmmsg */
int64_t send_to(struct on_behalf_call *call, int fd);
int64_t send_one(struct on_behalf_call *call, int fd, uint32_t message, uint64_t header, int flags);
int64_t send_many(struct on_behalf_call *call, int fd);
int send_flags(const struct on_behalf_call *call);

#endif
