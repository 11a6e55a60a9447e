/* The control message names a route only now and then: when it is decided on it does not, when it is sent it does. */
#include "../route.h"
static _Alignas(8) char control[CMSG_SPACE(40)];
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
	struct sockaddr_in to = harmless();
	struct iovec v = { "hello", 5 };
	struct msghdr m = { .msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	*c = (struct cmsghdr){ .cmsg_level = IPPROTO_IP, .cmsg_type = IP_TTL };
	size_t size = source_route(CMSG_DATA(c));
	c->cmsg_len = CMSG_LEN(size);
	m.msg_controllen = CMSG_SPACE(size);
	kind = &c->cmsg_type;
	pthread_t other;
	pthread_create(&other, NULL, flip, NULL);
	/* With IP_TTL the eight bytes are refused by the kernel: what comes through is the route. */
	while (!flips)
		sched_yield();
	for (int i = 0; i < 20 * attempts(); i++)
		if (sendmsg(fd, &m, MSG_DONTWAIT) > 0)
			return went(1);
	return 1;
}
