/* IPv6's loopback. */
#include "../attack.h"
int main(void)
{
	struct sockaddr_in6 a = v6("::1");
	return reach(socket(AF_INET6, SOCK_STREAM, 0), &a, sizeof a);
}
