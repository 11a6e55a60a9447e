/* sendmmsg: the second message goes elsewhere than the first. */
#include "../attack.h"
int main(void)
{
	struct sockaddr_in harmless = v4("224.0.0.1"), a = v4("127.0.0.1");
	struct iovec v = { "hello", 5 };
	struct mmsghdr m[2] = { { .msg_hdr = { .msg_name = &harmless, .msg_namelen = sizeof a, .msg_iov = &v, .msg_iovlen = 1 } },
				{ .msg_hdr = { .msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &v, .msg_iovlen = 1 } } };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), none = 0;
	setsockopt(fd, IPPROTO_IP, IP_MULTICAST_TTL, &none, sizeof none); /* it does not leave this machine */
	return sendmmsg(fd, m, 2, 0) < 2;
}
