/* The same server, by an abstract address. */
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
	const char *abstract = from_arena("A_DAEMON_ABSTRACT");
	strncpy(a.sun_path + 1, abstract, sizeof a.sun_path - 2);
	return told(socket(AF_UNIX, SOCK_STREAM, 0), &a, offsetof(struct sockaddr_un, sun_path) + 1 + strlen(abstract));
}
