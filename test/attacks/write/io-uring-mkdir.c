/* io_uring makes a folder. */
#include "../uring.h"
int main(void)
{
	struct uring u = open_uring(0);
	return worked(request(&u, (struct io_uring_sqe){ .opcode = IORING_OP_MKDIRAT, .fd = AT_FDCWD, .addr = (uintptr_t)in(OUTSIDE, "new"), .len = 0700 }));
}
