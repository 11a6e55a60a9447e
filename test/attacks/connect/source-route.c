/* A datagram to an address that nobody minds, by way of one that somebody does: IP_OPTIONS. */
#include "../route.h"
int main(void)
{
	uint8_t options[40];
	own_network();
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in to = harmless();
	if (setsockopt(fd, IPPROTO_IP, IP_OPTIONS, options, (socklen_t)source_route(options)) < 0)
		return 1;
	return went(sendto(fd, "hello", 5, 0, (struct sockaddr *)&to, sizeof to));
}
