/* MSG_FASTOPEN with sendmsg. */
#include "../attack.h"
int main(void)
{
	struct sockaddr_in a = v4("127.0.0.1");
	struct iovec v = { "hello", 5 };
	struct msghdr m = { .msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &v, .msg_iovlen = 1 };
	return sendmsg(socket(AF_INET, SOCK_STREAM, 0), &m, MSG_FASTOPEN) < 0;
}
