/*
 * The time stamp counter as a program meets it: read in its own code, in threads, children and new programs, and set to
 * fault by the program itself; and faults that are none of it. One line for each.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile int code;
static void *volatile where;

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	code = info->si_code;
	where = info->si_addr;
	siglongjmp(back, 1);
}

static uint64_t rdtsc(void)
{
	uint32_t low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static uint64_t rdtscp(uint32_t *aux)
{
	uint32_t low, high;
	__asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(*aux));
	return (uint64_t)high << 32 | low;
}

static uint64_t prefixed(void) /* rex.w rdtsc; the upper halves are cleared all the same */
{
	uint64_t low = ~0ull, high = ~0ull;
	__asm__ volatile(".byte 0x48, 0x0f, 0x31" : "+a"(low), "+d"(high));
	return high << 32 | low;
}

static void touch(volatile uintptr_t address)
{
	*(volatile int *)address = 1;
}

static void read_it(const char *who)
{
	if (sigsetjmp(back, 1) == 0)
		printf("%s %llx\n", who, (unsigned long long)rdtsc());
	else
		printf("%s faults %d\n", who, code);
	fflush(stdout);
}

static void *thread(void *name)
{
	read_it(name);
	return NULL;
}

static void in_thread(char *name)
{
	pthread_t t;
	pthread_create(&t, NULL, thread, name);
	pthread_join(t, NULL);
}

static void in_child(const char *name)
{
	pid_t child = fork();
	if (child == 0) {
		read_it(name);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static int setting(void)
{
	int value = 0;
	prctl(PR_GET_TSC, &value, 0, 0, 0);
	return value;
}

/* A signal that the program sends itself and that looks like the kernel's. What follows the call is the instruction. */
static void forged(void)
{
	siginfo_t info;
	memset(&info, 0, sizeof info);
	info.si_signo = SIGSEGV;
	info.si_code = SI_KERNEL;
	if (sigsetjmp(back, 1) != 0) {
		printf("forged arrives %d\n", code);
		return;
	}
	long nr = SYS_rt_sigqueueinfo, who = getpid(), number = SIGSEGV;
	__asm__ volatile("syscall; rdtsc" : "+a"(nr) : "D"(who), "S"(number), "d"(&info) : "rcx", "r11", "memory");
	printf("forged is lost\n");
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER };
	uint32_t aux = 77;
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGSEGV, &action, NULL);
	if (argc > 1) {
		read_it(argv[1]);
		return 0;
	}
	read_it("main");
	uint64_t value = rdtscp(&aux);
	printf("rdtscp %llx aux %s\n", (unsigned long long)value, aux == 77 ? "kept" : "set");
	printf("prefixed %llx\n", (unsigned long long)prefixed());
	in_thread("thread");
	in_child("child");

	if (sigsetjmp(back, 1) == 0)
		touch(0x10);
	printf("own fault %d at %p\n", code, where);
	if (sigsetjmp(back, 1) == 0)
		touch(0xdead000000000000ull);
	printf("general fault %d at %p\n", code, where);
	forged();

	printf("setting %d\n", setting());
	printf("set %d\n", prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0));
	printf("setting %d\n", setting());
	read_it("refused");
	in_thread("refused in thread");
	in_child("refused in child");
	printf("bad setting %d\n", prctl(PR_SET_TSC, 7, 0, 0, 0));
	printf("set back %d\n", prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0));
	read_it("again");
	execl("/proc/self/exe", argv[0], "exec", NULL);
	return 1;
}
