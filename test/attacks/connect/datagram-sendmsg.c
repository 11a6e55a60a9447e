/* sendmsg. */
#include "../attack.h"
int main(void)
{
	struct sockaddr_in6 a = v6("::ffff:127.0.0.1");
	struct iovec v = { "hello", 5 };
	struct msghdr m = { .msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &v, .msg_iovlen = 1 };
	return sendmsg(socket(AF_INET6, SOCK_DGRAM, 0), &m, 0) < 0;
}
