/* A route in the second of several messages, on a connected socket: no address in any of them. */
#include "../route.h"
int main(void)
{
	_Alignas(8) char control[CMSG_SPACE(40)] = { 0 };
	own_network();
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in to = harmless();
	if (bind(socket(AF_INET, SOCK_DGRAM, 0), (struct sockaddr *)&to, sizeof to) < 0)
		return 1;
	struct iovec v = { "hello", 5 };
	struct mmsghdr m[2] = { { .msg_hdr = { .msg_iov = &v, .msg_iovlen = 1 } }, { .msg_hdr = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control } } };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m[1].msg_hdr);
	*c = (struct cmsghdr){ .cmsg_level = IPPROTO_IP, .cmsg_type = IP_RETOPTS };
	size_t size = source_route(CMSG_DATA(c));
	c->cmsg_len = CMSG_LEN(size);
	m[1].msg_hdr.msg_controllen = CMSG_SPACE(size);
	if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0 || sendmmsg(fd, m, 2, 0) < 2)
		return 1;
	return went(2);
}
