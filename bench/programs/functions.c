/*
 * Calls one small function of libc over and over and says how long one call took.
 *
 * Usage: functions COUNT [DEPTH]
 * Prints nanoseconds per call. With DEPTH the calls are made from that many frames down.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double nanoseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static long repeat(long count)
{
	long sum = 0;
	for (long i = 0; i < count; i++)
		sum += abs((int)i);
	return sum;
}

__attribute__((noinline)) static long descend(int depth, long count)
{
	if (depth <= 0)
		return repeat(count);
	return descend(depth - 1, count) + depth; /* no tail call */
}

int main(int argc, char **argv)
{
	long count = argc >= 2 ? atol(argv[1]) : 0;
	int depth = argc >= 3 ? atoi(argv[2]) : 0;
	if (count < 10) {
		fputs("usage: functions COUNT [DEPTH]\n", stderr);
		return 2;
	}
	long sum = descend(depth, count / 5); /* caches and compilers get warm */
	double from = nanoseconds();
	sum += descend(depth, count);
	double each = (nanoseconds() - from) / (double)count;
	printf("%.1f\n", each);
	return sum == 42;
}
