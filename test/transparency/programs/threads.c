/* 500 threads at once: each opens, writes, reads back and removes a file of its own and adds to a shared sum. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 500 };
static pthread_barrier_t all_there;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;

static void *work(void *argument)
{
	long number = (long)argument;
	char name[32], text[32] = "";
	pthread_barrier_wait(&all_there);
	snprintf(name, sizeof name, "thread-%ld", number);
	int fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || write(fd, name, strlen(name)) != (ssize_t)strlen(name))
		perror(name);
	if (pread(fd, text, sizeof text - 1, 0) != (ssize_t)strlen(name) || strcmp(text, name) != 0)
		fprintf(stderr, "%s holds %s\n", name, text);
	close(fd);
	if (number % 10 && unlink(name) < 0)
		perror(name);
	pthread_mutex_lock(&lock);
	sum += number;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	static pthread_t threads[THREADS];
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * 1024);
	pthread_barrier_init(&all_there, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], &small, work, (void *)i) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", sum);
	return 42;
}
