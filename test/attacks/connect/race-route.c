/* The control message names a route only now and then: when it is decided on it does not, when it is sent it does. */
#include "../route.h"
static volatile int *kind, flips;
static void *flip(void *unused UNUSED)
{
	for (;;) {
		*kind = IP_RETOPTS;
		*kind = IP_TTL;
		flips = 1;
	}
	return NULL;
}
int main(void)
{
	own_network();
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct msghdr *m = message_with_route(IP_TTL);
	kind = &CMSG_FIRSTHDR(m)->cmsg_type;
	pthread_t other;
	pthread_create(&other, NULL, flip, NULL);
	/* With IP_TTL the eight bytes are refused by the kernel: what comes through is the route. */
	while (!flips)
		sched_yield();
	for (int i = 0; i < 20 * attempts(); i++)
		if (sendmsg(fd, m, MSG_DONTWAIT) > 0)
			return went(1);
	return 1;
}
