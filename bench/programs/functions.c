/*
 * Calls one small function of libc repeatedly and prints the time of one call.
 *
 * Usage: functions COUNT [DEPTH [ROUNDS]]
 * Prints nanoseconds per call. With DEPTH the calls are made that many frames deep; with ROUNDS they are repeated, with
 * a pause before each round, and the median is printed.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ROUNDS = 100 };

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

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	long count = argc >= 2 ? atol(argv[1]) : 0;
	int depth = argc >= 3 ? atoi(argv[2]) : 0;
	int rounds = argc >= 4 ? atoi(argv[3]) : 1;
	double each[MOST_ROUNDS];
	if (count < 10 || rounds < 1 || rounds > MOST_ROUNDS) {
		fputs("usage: functions COUNT [DEPTH [ROUNDS]]\n", stderr);
		return 2;
	}
	long sum = descend(depth, count / 5); /* warm-up */
	for (int i = 0; i < rounds; i++) {
		if (rounds > 1)
			usleep(30000);
		double from = nanoseconds();
		sum += descend(depth, count);
		each[i] = (nanoseconds() - from) / (double)count;
	}
	qsort(each, (size_t)rounds, sizeof each[0], ascending);
	printf("%.1f\n", each[rounds / 2]);
	return sum == 42;
}
