/* What a statically linked program sees of the time by each way there is. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	struct timespec spec;
	struct timeval val;
	unsigned int cpu = 0;
	clock_gettime(CLOCK_REALTIME, &spec);
	printf("clock_gettime %ld\n", (long)spec.tv_sec);
	clock_gettime(CLOCK_REALTIME_COARSE, &spec);
	printf("coarse %ld\n", (long)spec.tv_sec);
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &spec);
	printf("syscall %ld\n", (long)spec.tv_sec);
	clock_gettime(CLOCK_TAI, &spec);
	printf("tai %ld\n", (long)spec.tv_sec);
	gettimeofday(&val, NULL);
	printf("gettimeofday %ld\n", (long)val.tv_sec);
	printf("time %ld\n", (long)time(NULL));
	getcpu(&cpu, NULL);
	printf("getcpu %u\n", cpu);
	printf("vdso %s\n", getauxval(AT_SYSINFO_EHDR) ? "there" : "missing");
	return 0;
}
