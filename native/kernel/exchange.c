/* See exchange.h. */
#define _GNU_SOURCE
#include "exchange.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int wait_for(int socket, short what, int64_t until)
{
	for (;;) {
		int64_t left = until - now_ms();
		struct pollfd one = { socket, what, 0 };
		int got = left > 0 ? poll(&one, 1, (int)left) : 0;
		if (got > 0)
			return 0;
		if (got == 0 || errno != EINTR)
			return -1;
	}
}

int receive_all(int socket, void *into, size_t size, int64_t until)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = recv(socket, (char *)into + done, size - done, MSG_DONTWAIT);
		if (got > 0)
			done += (size_t)got;
		else if (got == 0 || (errno != EAGAIN && errno != EINTR) || wait_for(socket, POLLIN, until) < 0)
			return -1;
	}
	return 0;
}

int send_all(int socket, const void *from, size_t size, int64_t until)
{
	for (size_t done = 0; done < size;) {
		ssize_t sent = send(socket, (const char *)from + done, size - done, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent > 0)
			done += (size_t)sent;
		else if ((errno != EAGAIN && errno != EINTR) || wait_for(socket, POLLOUT, until) < 0)
			return -1;
	}
	return 0;
}
