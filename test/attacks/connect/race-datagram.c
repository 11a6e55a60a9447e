/* The same with datagrams, whose address comes with each of them. */
#include "../race.h"
int main(void)
{
	struct race *r = start_address();
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	for (int i = 0; goes_on(r, i); i++)
		sendto(fd, "hello", 5, 0, (struct sockaddr *)&flipped, sizeof flipped);
	return r->over = 1, 0;
}
