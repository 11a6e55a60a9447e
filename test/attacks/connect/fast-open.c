/* MSG_FASTOPEN: a send that connects. */
#include "../attack.h"
int main(void)
{
	struct sockaddr_in a = v4("127.0.0.1");
	return sendto(socket(AF_INET, SOCK_STREAM, 0), "hello", 5, MSG_FASTOPEN, (struct sockaddr *)&a, sizeof a) < 0;
}
