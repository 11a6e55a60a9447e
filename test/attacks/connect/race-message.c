/* sendmsg: the header that points to the address changes after the check. */
#include "../race.h"
static struct msghdr m;
static struct sockaddr_in good, bad;
static void *flip(void *context)
{
	while (flipping(context)) {
		m.msg_name = &good;
		pause_a_little(context, 20000);
		m.msg_name = &bad;
		pause_a_little(context, 20000);
	}
	return NULL;
}
int main(void)
{
	struct race *r = race_of("a", "b");
	struct iovec v = { "hello", 5 };
	pthread_t thread;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	bad = v4("127.0.0.1");
	good = v4("255.255.255.255");
	m = (struct msghdr){ .msg_name = &good, .msg_namelen = sizeof bad, .msg_iov = &v, .msg_iovlen = 1 };
	pthread_create(&thread, NULL, flip, r);
	for (int i = 0; goes_on(r, i); i++)
		sendmsg(fd, &m, 0);
	return r->over = 1, 0;
}
