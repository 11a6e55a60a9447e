/* A path on a page that never comes (userfaultfd): whoever reads it waits. Another process must still be served. */
#include "../attack.h"
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
	pid_t stuck = fork(), other;
	if (stuck == 0) {
		close(openat(AT_FDCWD, "/etc/hostname", O_RDONLY));
		syscall(SYS_mkdirat, AT_FDCWD, page, 0700);
		_exit(0);
	}
	usleep(200000);
	if ((other = fork()) == 0)
		_exit(mkdir("served", 0700) < 0);
	for (int i = 0; i < 300; i++, usleep(10000))
		if (waitpid(other, NULL, WNOHANG) == other) {
			/* Bare, one is stuck and the other is served: only whoever reads for both can be frozen by one. */
			kill(stuck, SIGKILL);
			return from_arena("A_SYSTEM")[0] == 'b' ? broke("a reader of this page would wait for ever") : 1;
		}
	broke("nobody is served any more");
	kill(stuck, SIGKILL);
	return 0;
}
