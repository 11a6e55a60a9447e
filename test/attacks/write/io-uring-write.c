/* io_uring opens for writing. */
#include "../uring.h"
int main(void)
{
	struct uring u = open_uring(0);
	return change(request(&u, (struct io_uring_sqe){ .opcode = IORING_OP_OPENAT, .fd = AT_FDCWD, .addr = (uintptr_t)outside_file(), .open_flags = O_WRONLY }));
}
