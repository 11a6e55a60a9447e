/* :: is this machine, and so is ::ffff:0.0.0.0. */
#include "../attack.h"
int main(void)
{
	struct sockaddr_in6 a = v6("::"), b = v6("::ffff:0.0.0.0");
	int first = reach(socket(AF_INET6, SOCK_STREAM, 0), &a, sizeof a);
	return reach(socket(AF_INET6, SOCK_STREAM, 0), &b, sizeof b) & first;
}
