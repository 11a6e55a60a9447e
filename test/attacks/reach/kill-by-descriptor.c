/* A socket's owner is told of what arrives: by a signal. */
#include "../attack.h"
int main(void)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 || fcntl(ends[0], F_SETOWN, OUTSIDER) < 0 || fcntl(ends[0], F_SETSIG, SIGUSR1) < 0 ||
	    fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK) < 0)
		return 1;
	return worked(write(ends[1], "x", 1));
}
