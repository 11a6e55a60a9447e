/* A unix socket's path leads elsewhere after the check. */
#include "../race.h"
static void *swap(void *context)
{
	while (flipping(context))
		syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", 2);
	return NULL;
}
int main(void)
{
	struct race *r = race_of("a", "b");
	struct sockaddr_un mine = { .sun_family = AF_UNIX, .sun_path = "mine" }, to = { .sun_family = AF_UNIX, .sun_path = "a" };
	pthread_t thread;
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (bind(server, (struct sockaddr *)&mine, sizeof mine) < 0 || listen(server, 1) < 0)
		return 1;
	symlink("mine", "a");
	symlink(SOCKET_FILE, "b");
	pthread_create(&thread, NULL, swap, r);
	for (int i = 0; goes_on(r, i); i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(fd, (struct sockaddr *)&to, sizeof to);
		close(fd);
		close(accept(server, NULL, NULL));
	}
	return r->over = 1, 0;
}
