/* io_uring sends a datagram. */
#include "../uring.h"
int main(void)
{
	struct uring u = open_uring(0);
	struct sockaddr_in a = v4("127.0.0.1");
	struct iovec v = { "hello", 5 };
	struct msghdr m = { .msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &v, .msg_iovlen = 1 };
	return worked(request(&u, (struct io_uring_sqe){ .opcode = IORING_OP_SENDMSG, .fd = socket(AF_INET, SOCK_DGRAM, 0), .addr = (uintptr_t)&m, .len = 1 }));
}
