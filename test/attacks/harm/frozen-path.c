/* A path on a page that never comes (userfaultfd): whoever reads it waits. Another process must still be served. */
#include "../frozen.h"
#include <linux/userfaultfd.h>
int main(void)
{
	int fault = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fault < 0)
		fault = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	struct uffdio_api api = { .api = UFFD_API };
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register all = { .range = { (uintptr_t)page, 4096 }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	if (fault < 0 || ioctl(fault, UFFDIO_API, &api) < 0 || ioctl(fault, UFFDIO_REGISTER, &all) < 0)
		return 1;
	pid_t stuck = fork();
	if (stuck == 0) {
		close(openat(AT_FDCWD, "/etc/hostname", O_RDONLY));
		syscall(SYS_mkdirat, AT_FDCWD, page, 0700);
		_exit(0);
	}
	return is_served_beside(stuck, "a reader of this page would wait for ever");
}
