/* A path without a final NUL, as long as its length says. */
#include "../attack.h"
int main(void)
{
	struct sockaddr_un a;
	memset(&a, 'x', sizeof a);
	a.sun_family = AF_UNIX;
	memcpy(a.sun_path, SOCKET_FILE, strlen(SOCKET_FILE));
	return reach(socket(AF_UNIX, SOCK_STREAM, 0), &a, offsetof(struct sockaddr_un, sun_path) + strlen(SOCKET_FILE));
}
