/* Another process writes into our memory from afar. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(PUBLIC, SECRET);
	pid_t victim = getpid();
	char *path = strdup(r->path);
	prctl(PR_SET_PTRACER, -1, 0, 0, 0);
	if (fork() == 0) {
		struct iovec to = { path + r->at, strlen(r->good) }, from = to;
		for (int bad = 0; flipping(r); bad = !bad) {
			from.iov_base = bad ? r->bad : r->good;
			process_vm_writev(victim, &from, 1, &to, 1, 0);
			pause_a_little(r, 10000);
		}
		_exit(0);
	}
	char bytes[256];
	for (int i = 0; goes_on(r, i); i++) {
		int fd = open(path, O_RDONLY);
		ssize_t size = fd < 0 ? 0 : read(fd, bytes, sizeof bytes);
		close(fd);
		if (size > 5 && memcmp(bytes, "TOKEN", 5) == 0) {
			r->over = 1;
			return write(1, bytes, (size_t)size) < 0;
		}
	}
	r->over = 1;
	return 1;
}
