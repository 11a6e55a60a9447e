/* 0.0.0.0 is this machine. */
#include "../attack.h"
int main(void)
{
	struct sockaddr_in a = v4("0.0.0.0");
	return reach(socket(AF_INET, SOCK_STREAM, 0), &a, sizeof a);
}
