/* Copies of a tracee's descriptors, and what they refer to. */
#ifndef HERMES_FD_COPY_H
#define HERMES_FD_COPY_H

#include <stdint.h>
#include <sys/types.h>

/* A copy of a tracee's descriptor, or -errno. */
int copy_tracee_fd(pid_t tid, int fd);
/* Local and peer addresses of a tracee's socket, each at most 128 bytes; 0 or -errno. */
int socket_names(pid_t tid, int fd, uint8_t *local, uint32_t *local_size, uint8_t *peer, uint32_t *peer_size);
/*
 * The process that a descriptor of ours refers to (a pidfd, or a process's folder in /proc), by our pid numbers. 0: it
 * refers to none, or to one that has ended. -ENXIO: it is in a /proc whose pid namespace we are not in. Other -errno: that
 * cannot be found out.
 */
long process_of_fd(int fd);

#endif
