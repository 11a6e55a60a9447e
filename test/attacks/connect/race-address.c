/* A second thread rewrites the address between the check and the use. */
#include "../race.h"
int main(void)
{
	struct race *r = start_address();
	for (int i = 0; goes_on(r, i); i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(fd, (struct sockaddr *)&flipped, sizeof flipped);
		close(fd);
	}
	return r->over = 1, 0;
}
