/* The same with IPv6: a segment routing header, by way of ::1. */
#include "../route.h"
#include <linux/seg6.h>
int main(void)
{
	struct { struct ipv6_sr_hdr head; struct in6_addr segments[2]; } route = { 0 };
	own_network();
	route.head.hdrlen = 4;
	route.head.type = 4 /* segment routing, RFC 8754 */;
	route.head.segments_left = 1;
	route.head.first_segment = 1;
	inet_pton(AF_INET6, "::1", &route.segments[1]);
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);
	struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_port = htons(ROUTE_PORT) };
	inet_pton(AF_INET6, HARMLESS6, &to.sin6_addr);
	if (setsockopt(fd, IPPROTO_IPV6, IPV6_RTHDR, &route, sizeof route) < 0)
		return 1;
	return went(sendto(fd, "hello", 5, 0, (struct sockaddr *)&to, sizeof to));
}
