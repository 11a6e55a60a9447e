/* The name of what is to be moved changes after the check. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(PUBLIC, SECRET);
	start_thread(r);
	for (int i = 0; goes_on(r, i); i++) {
		char bytes[64] = "";
		if (rename(r->path, "mine") < 0)
			continue;
		int fd = open("mine", O_RDONLY);
		ssize_t size = read(fd, bytes, sizeof bytes);
		close(fd);
		if (size > 5 && memcmp(bytes, "TOKEN", 5) == 0)
			return r->over = 1, write(1, bytes, (size_t)size) < 0;
		rename("mine", PUBLIC);
	}
	r->over = 1;
	return 1;
}
