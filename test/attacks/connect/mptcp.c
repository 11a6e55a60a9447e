/* Needs: mptcp. Multipath TCP. */
#include "../attack.h"
int main(void)
{
	struct sockaddr_in a = v4("127.0.0.1");
	return reach(socket(AF_INET, SOCK_STREAM, 262), &a, sizeof a);
}
