/* Needs: root. A raw socket: the header is ours. */
#include "../attack.h"
#include <netinet/ip.h>
#include <netinet/udp.h>
int main(void)
{
	struct { struct iphdr ip; struct udphdr udp; char data[5]; } __attribute__((packed)) p = { 0 };
	struct sockaddr_in a = v4("127.0.0.1");
	p.ip = (struct iphdr){ .version = 4, .ihl = 5, .ttl = 9, .protocol = 17, .daddr = a.sin_addr.s_addr, .saddr = a.sin_addr.s_addr, .tot_len = htons(sizeof p) };
	p.udp = (struct udphdr){ .dest = a.sin_port, .source = htons(9), .len = htons(13) };
	return sendto(socket(AF_INET, SOCK_RAW, IPPROTO_RAW), &p, sizeof p, 0, (struct sockaddr *)&a, sizeof a) < 0;
}
