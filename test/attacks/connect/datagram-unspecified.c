/* A datagram whose address has family 0 goes where the bytes after it say. */
#include "../attack.h"
int main(void)
{
	struct sockaddr_in a = v4("127.0.0.1");
	a.sin_family = AF_UNSPEC;
	return sendto(socket(AF_INET, SOCK_DGRAM, 0), "hello", 5, 0, (struct sockaddr *)&a, sizeof a) < 0;
}
