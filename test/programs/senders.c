/* Many threads each send much to somebody who does not read yet; told to, reads it all and says whether all is there. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SENDERS = 60, BYTES = 16 * 1024 * 1024 };
static unsigned char *data;
static int pairs[SENDERS][2];

static void *sender(void *argument)
{
	int fd = pairs[(long)argument][1];
	struct iovec pieces[3] = { { data, 1000 }, { data + 1000, BYTES / 2 }, { data + 1000 + BYTES / 2, BYTES - 1000 - BYTES / 2 } };
	struct msghdr message = { .msg_iov = pieces, .msg_iovlen = 3 };
	ssize_t sent = sendmsg(fd, &message, 0);
	shutdown(fd, SHUT_WR);
	return (void *)(long)sent;
}

static long receive(int fd)
{
	static unsigned char room[1 << 16];
	long got = 0;
	for (ssize_t size; (size = read(fd, room, sizeof room)) > 0; got += size)
		if (memcmp(room, data + got, (size_t)size) != 0)
			return -1;
	return got;
}

int main(void)
{
	pthread_t threads[SENDERS];
	long whole = 0;
	char word[16];
	data = malloc(BYTES);
	for (long i = 0; i < BYTES; i++)
		data[i] = (unsigned char)(i * 31 >> 3);
	for (long i = 0; i < SENDERS; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]) < 0 || pthread_create(&threads[i], NULL, sender, (void *)i) != 0)
			return 2;
	puts("sending");
	fflush(stdout);
	if (fgets(word, sizeof word, stdin) == NULL)
		return 2;
	for (int i = 0; i < SENDERS; i++) {
		void *sent;
		long got = receive(pairs[i][0]);
		pthread_join(threads[i], &sent);
		whole += got == BYTES && (long)sent == BYTES;
	}
	printf("%ld whole\n", whole);
	return 0;
}
