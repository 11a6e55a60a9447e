/* Needs: root. A raw socket, sent to an address of this machine that nobody minds, with a header that says another. */
#include "../attack.h"
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
int main(void)
{
	struct { struct iphdr ip; struct udphdr udp; char data[5]; } __attribute__((packed)) p = { 0 };
	struct sockaddr_in a = v4("127.0.0.1"), other = { 0 };
	struct ifaddrs *all;
	if (getifaddrs(&all) < 0)
		return 1;
	for (struct ifaddrs *i = all; i; i = i->ifa_next)
		if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && !(i->ifa_flags & IFF_LOOPBACK))
			memcpy(&other, i->ifa_addr, sizeof other);
	if (other.sin_family != AF_INET)
		return 1;
	p.ip = (struct iphdr){ .version = 4, .ihl = 5, .ttl = 9, .protocol = 17, .daddr = a.sin_addr.s_addr, .saddr = a.sin_addr.s_addr, .tot_len = htons(sizeof p) };
	p.udp = (struct udphdr){ .dest = a.sin_port, .source = htons(9), .len = htons(13) };
	int fd = socket(AF_INET, SOCK_RAW, IPPROTO_UDP), one = 1;
	if (setsockopt(fd, IPPROTO_IP, IP_HDRINCL, &one, sizeof one) < 0)
		fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	return sendto(fd, &p, sizeof p, 0, (struct sockaddr *)&other, sizeof other) < 0;
}
