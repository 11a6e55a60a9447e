/* io_uring removes. */
#include "../uring.h"
int main(void)
{
	struct uring u = open_uring(0);
	return worked(request(&u, (struct io_uring_sqe){ .opcode = IORING_OP_UNLINKAT, .fd = AT_FDCWD, .addr = (uintptr_t)outside_file() }));
}
