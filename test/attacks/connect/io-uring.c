/* io_uring connects. */
#include "../uring.h"
int main(void)
{
	struct uring u = open_uring(0);
	struct sockaddr_in a = v4("127.0.0.1");
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	return worked(request(&u, (struct io_uring_sqe){ .opcode = IORING_OP_CONNECT, .fd = fd, .addr = (uintptr_t)&a, .off = sizeof a }));
}
