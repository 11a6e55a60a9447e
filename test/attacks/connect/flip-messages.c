/* sendmmsg: the address of the second message flips without a pause, from one that goes nowhere. */
#include "../race.h"
int main(void)
{
	static struct sockaddr_in harmless, shared;
	struct iovec v = { "hello", 5 };
	struct mmsghdr m[2] = { { .msg_hdr = { .msg_name = &harmless, .msg_namelen = sizeof shared, .msg_iov = &v, .msg_iovlen = 1 } },
				{ .msg_hdr = { .msg_name = &shared, .msg_namelen = sizeof shared, .msg_iov = &v, .msg_iovlen = 1 } } };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), none = 0;
	setsockopt(fd, IPPROTO_IP, IP_MULTICAST_TTL, &none, sizeof none); /* it does not leave this machine */
	harmless = v4("224.0.0.1");
	shared = v4("127.0.0.1");
	const struct in_addr good = harmless.sin_addr, bad = shared.sin_addr;
	struct race *r = start_flip(&shared.sin_addr, sizeof shared.sin_addr, &good, &bad);
	for (int i = 0; flips_on(r, i); i++)
		sendmmsg(fd, m, 2, MSG_DONTWAIT);
	return r->over = 1, 0;
}
