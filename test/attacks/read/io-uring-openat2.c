/* The same with openat2's structure. */
#include "../uring.h"
int main(void)
{
	struct uring u = open_uring(0);
	struct open_how how = { .flags = O_RDONLY };
	return show(request(&u, (struct io_uring_sqe){ .opcode = IORING_OP_OPENAT2, .fd = AT_FDCWD, .addr = (uintptr_t)SECRET, .len = sizeof how, .off = (uintptr_t)&how }));
}
