/* The address pointer of a msghdr flips without a pause. */
#include "../race.h"
int main(void)
{
	static struct sockaddr_in addresses[2];
	static struct msghdr m;
	struct iovec v = { "hello", 5 };
	const void *const good = &addresses[0], *const bad = &addresses[1];
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	addresses[0] = v4("255.255.255.255");
	addresses[1] = v4("127.0.0.1");
	m = (struct msghdr){ .msg_namelen = sizeof addresses[0], .msg_iov = &v, .msg_iovlen = 1 };
	struct race *r = start_flip(&m.msg_name, sizeof m.msg_name, &good, &bad);
	for (int i = 0; flips_on(r, i); i++)
		sendmsg(fd, &m, MSG_DONTWAIT);
	return r->over = 1, 0;
}
