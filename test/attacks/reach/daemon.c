/* A server outside that runs what it is told, by its socket's path. */
#include "../attack.h"
static int told(int fd, const void *address, size_t size)
{
	char answer[16];
	const char *line = text("touch %s/ran", OUTSIDE, NULL);
	if (connect(fd, address, (socklen_t)size) < 0 || send(fd, line, strlen(line), 0) < 0)
		return 1;
	return recv(fd, answer, sizeof answer, 0) <= 0;
}
int main(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	strncpy(a.sun_path, from_arena("A_DAEMON"), sizeof a.sun_path - 1);
	return told(socket(AF_UNIX, SOCK_STREAM, 0), &a, sizeof a);
}
