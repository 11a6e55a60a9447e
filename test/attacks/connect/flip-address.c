/* The address of a datagram flips without a pause. */
#include "../race.h"
int main(void)
{
	static struct sockaddr_in shared;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	shared = v4("127.0.0.1");
	const struct in_addr good = v4("255.255.255.255").sin_addr, bad = shared.sin_addr;
	struct race *r = start_flip(&shared.sin_addr, sizeof shared.sin_addr, &good, &bad);
	for (int i = 0; flips_on(r, i); i++)
		sendto(fd, "hello", 5, MSG_DONTWAIT, (struct sockaddr *)&shared, sizeof shared);
	return r->over = 1, 0;
}
