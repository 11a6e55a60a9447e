/* process_madvise: the supervisor's memory is pushed out. */
#include "../attack.h"
int main(void)
{
	int fd = (int)syscall(SYS_pidfd_open, supervisor(), 0);
	struct iovec all = { (void *)0x400000, 4096 };
	long done = syscall(SYS_process_madvise, fd, &all, 1, MADV_COLD, 0);
	return fd >= 0 && (done >= 0 || errno == ENOMEM || errno == EFAULT) ? broke("its memory can be advised on") : 1;
}
