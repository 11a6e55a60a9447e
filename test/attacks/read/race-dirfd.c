/* Relative to a descriptor, while another thread puts another folder under its number. */
#include "../race.h"
static int good, bad, used;
static void *exchange(void *context)
{
	while (flipping(context)) {
		dup2(good, used);
		dup2(bad, used);
	}
	return NULL;
}
int main(void)
{
	struct race *r = race_of(PUBLIC, SECRET);
	pthread_t thread;
	char bytes[256];
	good = open(folder_of(PUBLIC), O_PATH);
	bad = open(folder_of(SECRET), O_PATH);
	used = dup(good);
	pthread_create(&thread, NULL, exchange, r);
	for (int i = 0; goes_on(r, i); i++) {
		int fd = openat(used, "token", O_RDONLY);
		ssize_t size = fd < 0 ? 0 : read(fd, bytes, sizeof bytes);
		close(fd);
		if (size > 5 && memcmp(bytes, "TOKEN", 5) == 0)
			return r->over = 1, write(1, bytes, (size_t)size) < 0;
	}
	r->over = 1;
	return 1;
}
