/* The same socket through a link and /proc/self/root. */
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
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "l/socket" };
	if (symlink(text("/proc/self/root%s", folder_of(from_arena("A_DAEMON")), NULL), "l") < 0)
		return 1;
	strcpy(a.sun_path, in("l", name_of(from_arena("A_DAEMON"))));
	return told(socket(AF_UNIX, SOCK_STREAM, 0), &a, sizeof a);
}
