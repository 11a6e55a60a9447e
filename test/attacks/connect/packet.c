/* Needs: root. A packet socket on the loopback: whole frames, bound to the device and written without an address. */
#include "../attack.h"
#include <linux/if_packet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
int main(void)
{
	struct { struct iphdr ip; struct udphdr udp; char data[5]; } __attribute__((packed)) p = { 0 };
	struct sockaddr_in a = v4("127.0.0.1");
	p.ip = (struct iphdr){ .version = 4, .ihl = 5, .ttl = 9, .protocol = 17, .daddr = a.sin_addr.s_addr, .saddr = a.sin_addr.s_addr, .tot_len = htons(sizeof p) };
	uint32_t sum = 0;
	for (int i = 0; i < 10; i++)
		sum += ((uint16_t *)(void *)&p.ip)[i];
	p.ip.check = (uint16_t)~((sum & 0xffff) + (sum >> 16));
	p.udp = (struct udphdr){ .dest = a.sin_port, .source = htons(9), .len = htons(13) };
	struct sockaddr_ll lo = { .sll_family = AF_PACKET, .sll_protocol = htons(0x0800), .sll_ifindex = 1, .sll_halen = 6 };
	int fd = socket(AF_PACKET, SOCK_DGRAM, htons(0x0800));
	if (fd < 0 || bind(fd, (struct sockaddr *)&lo, sizeof lo) < 0)
		return 1;
	if (write(fd, &p, sizeof p) != sizeof p && sendto(fd, &p, sizeof p, 0, (struct sockaddr *)&lo, sizeof lo) < 0)
		return 1;
	return broke("a frame went to the loopback");
}
