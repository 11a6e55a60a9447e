/* The folder that a socket is bound in is exchanged for a link to one outside, between the check and the bind. */
#include "../race.h"
static void *exchange_folders(void *context)
{
	struct race *r = context;
	while (flipping(r)) {
		renameat2(AT_FDCWD, "folder", AT_FDCWD, "link", RENAME_EXCHANGE);
		pause_a_little(r, 3000);
	}
	return NULL;
}
int main(void)
{
	struct race *r = race_of("a", "b");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	pthread_t thread;
	strcpy(a.sun_path, "folder/n");
	mkdir("folder", 0700);
	if (symlink(OUTSIDE, "link") < 0 || pthread_create(&thread, NULL, exchange_folders, r) != 0)
		return 1;
	for (int i = 0; goes_on(r, i); i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);
		bind(fd, (struct sockaddr *)&a, sizeof a);
		unlink("folder/n");
		close(fd);
	}
	return r->over = 1, 0;
}
