/* RecoveredFunctions that are looked at while a program does everything that makes that hard. Prints what it saw, to be compared. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static jmp_buf back;
static ucontext_t main_context, other_context;
static volatile int handled;
static volatile long sink;

NOINLINE long answer(long a, long b) { sink = a; __asm__ volatile("" ::: "memory"); return a + b; }
NOINLINE long nine(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
	sink = a;
	__asm__ volatile("" ::: "memory");
	return a + b + c + d + e + f + g + h * 10 + i * 100;
}
NOINLINE double half(double x) { sink = (long)x; __asm__ volatile("" ::: "memory"); return x / 2; }
NOINLINE const char *greeting(const char *name) { sink = name[0]; __asm__ volatile("" ::: "memory"); return name; }
NOINLINE long fill(char *into, long size) { for (long i = 0; i < size; i++) into[i] = 'x'; return size; }
NOINLINE long refused(void) { sink = 1; __asm__ volatile("" ::: "memory"); return 7; }
NOINLINE int jumps(int depth) { sink = depth; if (depth == 0) longjmp(back, 1); return depth < 0 ? 0 : 1 + jumps(depth - 1); }
NOINLINE long recursive(long n) { sink = n; return n == 0 ? 0 : 1 + recursive(n - 1); }
NOINLINE void on_signal(int number) { handled += number; __asm__ volatile("" ::: "memory"); }
NOINLINE void elsewhere(void) { sink = 3; answer(20, 2); swapcontext(&other_context, &main_context); answer(30, 3); }

/* A first instruction that is a call, and one that is a jump. */
__asm__(".globl calls_first\n.type calls_first, @function\ncalls_first:\n\tcall answer\n\tadd $1, %rax\n\tret\n.size calls_first, . - calls_first\n");
__asm__(".globl jumps_first\n.type jumps_first, @function\njumps_first:\n\tjmp answer\n.size jumps_first, . - jumps_first\n");
__asm__(".globl branches_first\n.type branches_first, @function\nbranches_first:\n\tjrcxz 1f\n\tmov $1, %eax\n\tret\n1:\tmov $2, %eax\n\tret\n.size branches_first, . - branches_first\n");
__asm__(".globl reads_first\n.type reads_first, @function\nreads_first:\n\tmov sink(%rip), %rax\n\tret\n.size reads_first, . - reads_first\n");
__asm__(".globl faults_first\n.type faults_first, @function\nfaults_first:\n\tmov (%rdi), %rax\n\tret\n.size faults_first, . - faults_first\n");
__asm__(".globl calls_through_memory\n.type calls_through_memory, @function\ncalls_through_memory:\n\tcall *8(%rsp)\n\tret\n.size calls_through_memory, . - calls_through_memory\n");
long calls_first(long, long), jumps_first(long, long), reads_first(void), faults_first(long *);
int branches_first(int, int, int, long);

static long through_memory(long (*function)(long, long))
{
	long result;
	__asm__ volatile("sub $8, %%rsp\n\tpush %1\n\tmov $4, %%edi\n\tmov $5, %%esi\n\tcall calls_through_memory\n\tadd $16, %%rsp"
			 : "=a"(result) : "r"(function) : "rdi", "rsi", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
	return result;
}

static long chosen(long a, long b) { sink = a; __asm__ volatile("" ::: "memory"); return a * b; }
static long (*choose_answer(void))(long, long) { return chosen; }
long product(long, long) __attribute__((ifunc("choose_answer")));

static sigjmp_buf from_fault;
static void *fault_address;
static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	fault_address = (void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	siglongjmp(from_fault, 1);
}

static void faults(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	sigaction(SIGSEGV, &action, NULL);
	if (sigsetjmp(from_fault, 1) == 0)
		faults_first((long *)8);
	printf("fault in its place %d\n", fault_address == (void *)faults_first);
}

static void on_trap(int number) { handled += 100 * number; }

static void own_traps(void)
{
	signal(SIGTRAP, on_trap);
	handled = 0;
	__asm__ volatile("int3");
	raise(SIGTRAP);
	printf("own traps %d\n", handled);
	signal(SIGTRAP, SIG_DFL);
}

static void blocked(void)
{
	sigset_t every, now;
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, NULL);
	answer(1, 1);
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	printf("still blocked %d\n", sigismember(&now, SIGTRAP));
	sigemptyset(&every);
	pthread_sigmask(SIG_SETMASK, &every, NULL);
}

static void contexts(void)
{
	static char stack[65536];
	getcontext(&other_context);
	other_context.uc_stack.ss_sp = stack;
	other_context.uc_stack.ss_size = sizeof stack;
	other_context.uc_link = &main_context;
	makecontext(&other_context, elsewhere, 0);
	swapcontext(&main_context, &other_context);
	printf("between contexts %ld\n", answer(40, 4));
	swapcontext(&main_context, &other_context);
}

static void processes(const char *self)
{
	int status;
	pid_t child = fork();
	if (child == 0)
		_exit((int)answer(3, 4));
	waitpid(child, &status, 0);
	printf("fork %d\n", WEXITSTATUS(status));
	child = vfork();
	if (child == 0) {
		sink = answer(1, 1);
		execl(self, self, "child", (char *)NULL);
		_exit(99);
	}
	waitpid(child, &status, 0);
	printf("vfork, exec %d\n", WEXITSTATUS(status));
}

static void libraries(const char *library)
{
	for (int i = 0; i < 3; i++) {
		void *handle = dlopen(library, RTLD_NOW);
		long (*loaded)(long) = handle ? (long (*)(long))dlsym(handle, "loaded_later") : NULL;
		printf("loaded %ld\n", loaded ? loaded(i) : -1);
		if (handle)
			dlclose(handle);
	}
}

static void *many(void *count)
{
	long missed = 0;
	for (long i = 0; i < (long)count; i++) {
		void *volatile block = malloc(16 + i % 64);
		missed += answer(i, 1) != i + 1;
		free(block);
	}
	return (void *)missed;
}

static int threads(long count, int number)
{
	pthread_t thread[64];
	long missed = 0;
	void *result;
	for (int i = 0; i < number; i++)
		pthread_create(&thread[i], NULL, many, (void *)count);
	for (int i = 0; i < number; i++) {
		pthread_join(thread[i], &result);
		missed += (long)result;
	}
	printf("wrong %ld\n", missed);
	return 0;
}

/* Returns of so many calls in a row, for those who hook and unhook meanwhile. */
static int waits(void)
{
	long seen = 0;
	puts("running");
	fflush(stdout);
	for (int i = 0; i < 30000 && seen != 2; i++) {
		long got = refused();
		if (seen == 0 && got == 1000)
			seen = 1, puts("hooked"), fflush(stdout);
		if (seen == 1 && got == 7)
			seen = 2, puts("unhooked"), fflush(stdout);
		usleep(1000);
	}
	return seen != 2;
}

int main(int argc, char **argv)
{
	char text[8] = "";
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && strcmp(argv[1], "child") == 0)
		return (int)answer(5, 6);
	if (argc > 3 && strcmp(argv[1], "threads") == 0)
		return threads(atol(argv[2]), atoi(argv[3]));
	if (argc > 1 && strcmp(argv[1], "waits") == 0)
		return waits();
	if (argc > 2 && strcmp(argv[1], "calls") == 0) {
		for (long i = 0, n = atol(argv[2]); i < n; i++)
			sink = answer(i, i);
		return 0;
	}
	printf("answer %ld\n", answer(1, 2));
	printf("nine %ld\n", nine(1, 2, 3, 4, 5, 6, 7, 8, 9));
	printf("half %.2f\n", half(5));
	printf("greeting %s\n", greeting("world"));
	long filled = fill(text, 4);
	printf("fill %ld %s\n", filled, text);
	errno = 0;
	long got = refused();
	printf("refused %ld %s\n", got, strerror(errno));
	printf("calls first %ld, jumps first %ld, through memory %ld\n", calls_first(1, 1), jumps_first(2, 2), through_memory(answer));
	printf("branches first %d %d\n", branches_first(0, 0, 0, 0), branches_first(0, 0, 0, 1));
	sink = 77;
	printf("reads first %ld\n", reads_first());
	printf("product %ld\n", product(6, 7));
	if (setjmp(back) == 0)
		jumps(5);
	printf("after longjmp %ld\n", answer(10, 1));
	printf("recursive %ld\n", recursive(10));
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	printf("handled %d\n", handled);
	own_traps();
	blocked();
	faults();
	contexts();
	processes(argv[0]);
	if (argc > 1)
		libraries(argv[1]);
	return 0;
}
