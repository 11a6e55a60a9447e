/* The link on a socket's way leads to its own folder while it is looked at, and outside when it is bound. */
#include "../race.h"
static void *turn(void *context)
{
	struct race *r = context;
	while (flipping(r)) {
		renameat2(AT_FDCWD, "here", AT_FDCWD, "there", RENAME_EXCHANGE);
		pause_a_little(r, 3000);
	}
	return NULL;
}
int main(void)
{
	struct race *r = race_of("a", "b");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	pthread_t thread;
	snprintf(a.sun_path, sizeof a.sun_path, "%s/here/n", ALLOWED);
	if (symlink(".", "here") < 0 || symlink(OUTSIDE, "there") < 0 || pthread_create(&thread, NULL, turn, r) != 0)
		return 1;
	for (int i = 0; goes_on(r, i); i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);
		bind(fd, (struct sockaddr *)&a, sizeof a);
		unlink("n");
		close(fd);
	}
	return r->over = 1, 0;
}
