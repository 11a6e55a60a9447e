/*
 * A network of our own, with an address that nobody minds, and a loopback that one does: a packet to the first that
 * goes by way of the second is where a rule on addresses says that it must not go.
 */
#pragma once
#include "attack.h"
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/ip.h>

#define HARMLESS "10.9.9.9"
#define HARMLESS6 "fd09::9"
enum { ROUTE_PORT = 4711 };

static UNUSED void write_line(const char *path, const char *line)
{
	int fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, line, strlen(line)) < 0)
		exit(1);
	close(fd);
}

/* The loopback's second address, as `ip address add` would. */
static UNUSED void add_address(int family, const void *address, size_t size)
{
	struct {
		struct nlmsghdr head;
		struct ifaddrmsg body;
		char attributes[128];
	} request = { .head = { .nlmsg_type = RTM_NEWADDR, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE },
		      .body = { .ifa_family = (unsigned char)family, .ifa_prefixlen = (unsigned char)(size * 8),
				.ifa_flags = family == AF_INET6 ? IFA_F_NODAD : 0, .ifa_index = 1 } };
	struct rtattr *a = (struct rtattr *)(void *)request.attributes;
	*a = (struct rtattr){ .rta_len = (unsigned short)RTA_LENGTH(size), .rta_type = IFA_LOCAL };
	memcpy(RTA_DATA(a), address, size);
	request.head.nlmsg_len = (unsigned)(NLMSG_LENGTH(sizeof request.body) + RTA_ALIGN(a->rta_len));
	char answer[1024];
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	if (send(fd, &request, request.head.nlmsg_len, 0) < 0 || recv(fd, answer, sizeof answer, 0) < 0)
		exit(1);
	close(fd);
}

static UNUSED void own_network(void)
{
	char map[64];
	uid_t uid = getuid();
	gid_t gid = getgid();
	if (unshare(CLONE_NEWNET) < 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
			exit(1);
		write_line("/proc/self/setgroups", "deny");
		snprintf(map, sizeof map, "0 %d 1", (int)uid);
		write_line("/proc/self/uid_map", map);
		snprintf(map, sizeof map, "0 %d 1", (int)gid);
		write_line("/proc/self/gid_map", map);
	}
	struct ifreq up = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	if (ioctl(socket(AF_INET, SOCK_DGRAM, 0), SIOCSIFFLAGS, &up) < 0)
		exit(1);
	struct in_addr four;
	struct in6_addr six;
	inet_pton(AF_INET, HARMLESS, &four);
	inet_pton(AF_INET6, HARMLESS6, &six);
	add_address(AF_INET, &four, sizeof four);
	add_address(AF_INET6, &six, sizeof six);
}

/* A loose source route by way of 127.0.0.1 (RFC 791). */
static UNUSED size_t source_route(uint8_t *options)
{
	const uint8_t route[] = { IPOPT_NOP, IPOPT_LSRR, 7, 4, 127, 0, 0, 1 };
	memcpy(options, route, sizeof route);
	return sizeof route;
}

static UNUSED struct sockaddr_in harmless(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(ROUTE_PORT) };
	inet_pton(AF_INET, HARMLESS, &to.sin_addr);
	return to;
}

/* A datagram to the harmless address with a route in its control message, or, of another type, eight bytes of it. */
static UNUSED struct msghdr *message_with_route(int type)
{
	static _Alignas(8) char control[CMSG_SPACE(40)];
	static struct sockaddr_in to;
	static struct iovec v = { "hello", 5 };
	static struct msghdr m = { .msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	to = harmless();
	*c = (struct cmsghdr){ .cmsg_level = IPPROTO_IP, .cmsg_type = type };
	size_t size = source_route(CMSG_DATA(c));
	c->cmsg_len = CMSG_LEN(size);
	m.msg_controllen = CMSG_SPACE(size);
	return &m;
}

/* The kernel took the packet with the route in it, and has sent it to where the route begins. */
static UNUSED int went(ssize_t sent)
{
	return sent < 0 ? 1 : broke("a packet went by way of the loopback");
}
