/* Makes calls from odd places: each is a stack that somebody follows. getppid and clock_gettime are the marks. */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noipa))

KEEP static int mark(int value)
{
	syscall(SYS_getppid);
	return value + 1;
}

KEEP static int deep(int n)
{
	volatile char room[40];
	room[n % 40] = (char)n;
	return n == 0 ? mark(n) : deep(n - 1) + room[n % 40];
}

KEEP static int with_alloca(int n)
{
	char *room = alloca((size_t)n * 16 + 1);
	memset(room, n, (size_t)n * 16 + 1);
	return mark(room[n]) + room[0];
}

KEEP static int aligned(int n)
{
	_Alignas(64) volatile char room[128];
	room[n] = 1;
	return mark(n) + room[n];
}

/* The last thing that it does is a jump: nobody sees it on the stack. */
KEEP static int tail(int n) { return mark(n + 1); }
KEEP static int calls_tail(int n) { return tail(n) * 2; }

static jmp_buf back;
KEEP _Noreturn static void never_returns(int n)
{
	mark(n);
	longjmp(back, 1);
}
/* Its code ends with a call: the address to return to belongs to whatever lies behind it. */
KEEP static void ends_with_call(int n)
{
	never_returns(n + 1);
}

static int compare(const void *a, const void *b)
{
	static int once;
	if (!once++)
		mark(0);
	return *(const int *)a - *(const int *)b;
}

static void handler(int number)
{
	mark(number);
}

KEEP static void with_signal(int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

static void *thread(void *argument)
{
	deep(2);
	return argument;
}

KEEP static void in_vdso(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time); /* the vDSO cannot tell: it makes the call itself */
}

int main(void)
{
	static char other_stack[64 * 1024];
	stack_t alternate = { .ss_sp = other_stack, .ss_size = sizeof other_stack };
	int numbers[] = { 3, 1, 2 };
	pthread_t other;
	deep(12);
	with_alloca(7);
	aligned(3);
	calls_tail(4);
	if (!setjmp(back))
		ends_with_call(5);
	qsort(numbers, 3, sizeof *numbers, compare);
	with_signal(0);
	sigaltstack(&alternate, NULL);
	with_signal(SA_ONSTACK);
	in_vdso();
	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
	puts("done");
	return 0;
}
