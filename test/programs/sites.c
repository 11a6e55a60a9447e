/* Instructions that policies look for, and bytes that only look like them. sites [SPINS]: threads that execute cpuid. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8 };
static int spins;

static void cpuid(uint32_t leaf, uint32_t into[4])
{
	__asm__ volatile("cpuid" : "=a"(into[0]), "=b"(into[1]), "=c"(into[2]), "=d"(into[3]) : "a"(leaf), "c"(0));
}

/* The immediate holds the bytes of cpuid, syscall and rdrand. */
static __attribute__((noinline)) uint64_t lookalike(void)
{
	uint64_t value;
	__asm__ volatile("movabs $0xf0c70f050fa20f11, %0" : "=r"(value));
	return value;
}

static __attribute__((noinline)) long own_getpid(void)
{
	long result;
	__asm__ volatile("mov $39, %%eax\n\tsyscall" : "=a"(result) : : "rcx", "r11", "memory");
	return result;
}

static __attribute__((noinline)) uint64_t random_number(int *ok)
{
	uint64_t value = 1;
	unsigned char carry;
	__asm__ volatile("rdrand %0; setc %1" : "+r"(value), "=qm"(carry));
	*ok = carry;
	return value;
}

static void copy(char *to, const char *from, size_t count)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
}

static void *spin(void *wrong)
{
	uint32_t first[4], now[4];
	cpuid(0, first);
	for (int i = 0; i < spins; i++) {
		cpuid(0, now);
		if (memcmp(first, now, sizeof now) != 0)
			*(int *)wrong = 1;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint32_t r[4];
	char text[8] = "unset";
	int ok = 0;
	if (argc > 1) {
		pthread_t threads[THREADS];
		int wrong = 0;
		spins = atoi(argv[1]);
		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, spin, &wrong);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		printf("%s\n", wrong ? "wrong" : "right");
		return 0;
	}
	cpuid(0, r);
	printf("maker %08x%08x%08x\n", r[1], r[3], r[2]);
	cpuid(7, r);
	printf("avx2 %u\n", r[1] >> 5 & 1);
	printf("lookalike %llx\n", (unsigned long long)lookalike());
	printf("getpid %s\n", own_getpid() == getpid() ? "same" : "other");
	uint64_t value = random_number(&ok);
	printf("random %s %d\n", value == 42 ? "42" : value == 0 ? "0" : "some", ok);
	copy(text, "copied", 7);
	printf("text %s\n", text);
	fflush(stdout);
	if (fork() == 0) {
		cpuid(7, r);
		printf("avx2 in child %u\n", r[1] >> 5 & 1);
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	return 0;
}
