/* A server outside that runs what it is told, by its socket's path. */
#include "../daemon.h"
int main(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	strncpy(a.sun_path, from_arena("A_DAEMON"), sizeof a.sun_path - 1);
	return told(&a, sizeof a);
}
