/* Needs: userns. The source of a bind mount flips between a public folder and the secret one. */
#include "../race.h"
int main(void)
{
	static char path[4096];
	char bytes[256];
	const char *good = folder_of(PUBLIC), *bad = folder_of(SECRET);
	mkdir("m", 0700);
	/* Mounts of a namespace that another user namespace owns do not spread. */
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 || strlen(good) != strlen(bad))
		return 1;
	struct race *r = start_flip(path, strlen(good), good, bad);
	for (int i = 0; flips_on(r, i); i++) {
		if (mount(path, "m", NULL, MS_BIND, NULL) < 0)
			continue;
		int fd = open("m/token", O_RDONLY);
		ssize_t size = fd < 0 ? 0 : read(fd, bytes, sizeof bytes);
		if (fd >= 0)
			close(fd);
		if (size > 5 && memcmp(bytes, "TOKEN", 5) == 0) {
			fprintf(stderr, "try %d\n", i);
			return r->over = 1, write(1, bytes, (size_t)size) < 0;
		}
		umount2("m", MNT_DETACH);
	}
	return r->over = 1;
}
