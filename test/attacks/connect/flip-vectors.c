/* The count of a msghdr's vectors and the length of its address flip together: one header is read, or two halves of two. */
#include "../race.h"
int main(void)
{
	static struct sockaddr_in away;
	static struct msghdr m;
	struct iovec v = { "hello", 5 };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	away = v4("127.0.0.1");
	const struct msghdr good = { .msg_name = NULL, .msg_namelen = 0, .msg_iov = &v, .msg_iovlen = 0 };
	const struct msghdr bad = { .msg_name = &away, .msg_namelen = sizeof away, .msg_iov = &v, .msg_iovlen = 1 };
	struct race *r = start_flip(&m, sizeof m, &good, &bad);
	for (int i = 0; flips_on(r, i); i++)
		sendmsg(fd, &m, MSG_DONTWAIT);
	return r->over = 1, 0;
}
