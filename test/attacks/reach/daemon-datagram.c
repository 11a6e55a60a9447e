/* The same server, by a datagram. */
#include "../attack.h"
int main(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	strncpy(a.sun_path, from_arena("A_DAEMON_DATAGRAM"), sizeof a.sun_path - 1);
	return worked(sendto(socket(AF_UNIX, SOCK_DGRAM, 0), "touch ran", 9, 0, (struct sockaddr *)&a, sizeof a));
}
