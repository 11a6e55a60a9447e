/* The same with datagrams, whose address comes with each of them. */
#include "../race.h"
static struct sockaddr_in shared;
static void *flip(void *context)
{
	struct sockaddr_in bad = v4("127.0.0.1");
	while (flipping(context)) {
		shared.sin_addr.s_addr = 0xffffffff;
		pause_a_little(context, 20000);
		shared.sin_addr = bad.sin_addr;
		pause_a_little(context, 20000);
	}
	return NULL;
}
int main(void)
{
	struct race *r = race_of("a", "b");
	pthread_t thread;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	shared = v4("127.0.0.1");
	pthread_create(&thread, NULL, flip, r);
	for (int i = 0; goes_on(r, i); i++)
		sendto(fd, "hello", 5, 0, (struct sockaddr *)&shared, sizeof shared);
	return r->over = 1, 0;
}
