/* An IPv4 address in IPv6's clothes. */
#include "../attack.h"
int main(void)
{
	struct sockaddr_in6 a = v6("::ffff:127.0.0.1");
	return reach(socket(AF_INET6, SOCK_STREAM, 0), &a, sizeof a);
}
