/* io_uring opens and reads without a system call per deed. */
#include "../uring.h"
int main(void)
{
	struct uring u = open_uring(0);
	return show(request(&u, (struct io_uring_sqe){ .opcode = IORING_OP_OPENAT, .fd = AT_FDCWD, .addr = (uintptr_t)SECRET }));
}
