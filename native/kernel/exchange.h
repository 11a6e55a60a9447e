/* Bytes over a stream socket, all of them, before a moment. */
#ifndef HERMES_EXCHANGE_H
#define HERMES_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

/* Milliseconds of the monotonic clock. */
int64_t now_ms(void);
/* 0, or -1: the other end is closed, or it is too late. */
int receive_all(int socket, void *into, size_t size, int64_t until);
int send_all(int socket, const void *from, size_t size, int64_t until);

#endif
