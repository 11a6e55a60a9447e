/* io_uring moves. */
#include "../uring.h"
int main(void)
{
	struct uring u = open_uring(0);
	put("f", "x");
	return worked(request(&u, (struct io_uring_sqe){ .opcode = IORING_OP_RENAMEAT, .fd = AT_FDCWD, .addr = (uintptr_t)"f", .len = (uint32_t)AT_FDCWD, .off = (uintptr_t)outside_file() }));
}
