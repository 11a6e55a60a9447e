/* TCP_FASTOPEN_CONNECT: a connect that sends nothing until the first write. */
#include "../attack.h"
#include <netinet/tcp.h>
int main(void)
{
	struct sockaddr_in a = v4("127.0.0.1");
	int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, IPPROTO_TCP, 30 /* TCP_FASTOPEN_CONNECT */, &on, sizeof on);
	return reach(fd, &a, sizeof a);
}
