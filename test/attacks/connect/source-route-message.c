/* The same route in a control message of one datagram: IP_RETOPTS. */
#include "../route.h"
int main(void)
{
	_Alignas(8) char control[CMSG_SPACE(40)] = { 0 };
	own_network();
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in to = harmless();
	struct iovec v = { "hello", 5 };
	struct msghdr m = { .msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	*c = (struct cmsghdr){ .cmsg_level = IPPROTO_IP, .cmsg_type = IP_RETOPTS };
	size_t size = source_route(CMSG_DATA(c));
	c->cmsg_len = CMSG_LEN(size);
	m.msg_controllen = CMSG_SPACE(size);
	return went(sendmsg(fd, &m, 0));
}
