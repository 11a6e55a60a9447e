/* Messages over a Unix socket that carry a descriptor (SCM_RIGHTS). */
#ifndef HERMES_FD_MESSAGE_H
#define HERMES_FD_MESSAGE_H

#include <sys/types.h>
#include <sys/uio.h>

/* Sends the parts as one message, with a descriptor unless it is -1. 0 or -errno. */
int fd_message_send(int socket, struct iovec *parts, size_t count, int descriptor);
/*
 * Receives one message. *descriptor becomes the one that came with it, and stays as it was without one. Returns the
 * message's length, 0 when the other end is closed or the message did not fit, -1 and an errno.
 */
ssize_t fd_message_receive(int socket, void *into, size_t size, int flags, int *descriptor);

#endif
