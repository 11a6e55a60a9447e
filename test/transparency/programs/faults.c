/* Synchronous signals with all that they carry, on an alternate stack; and queued ones with their values. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf back;
static char *alternate;
static char *page;
static volatile sig_atomic_t seen;

static void on_fault(int number, siginfo_t *info, void *context)
{
	char here;
	int on_alternate = &here > alternate && &here < alternate + 65536;
	long offset = (char *)info->si_addr - page;
	printf("signal %d code %d on the alternate stack %d", number, info->si_code, on_alternate);
	if (number == SIGSEGV && offset >= 0 && offset < 4096)
		printf(" at %ld", offset);
	if (number == SIGSYS)
		printf(" call %d result %lld", info->si_syscall, (long long)((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX]);
	puts("");
	siglongjmp(back, 1);
}

static int deep(volatile char *from)
{
	volatile char room[4096];
	room[0] = from ? from[0] : 1;
	return deep(room) + room[0];
}

static void provoke(int which)
{
	volatile int zero = 0;
	switch (which) {
	case 0: page[7] = 1; break;
	case 1: *(volatile char *)0 = 1; break;
	case 2: zero = 1 / zero; break;
	case 3: __asm__ volatile("ud2"); break;
	case 4: __asm__ volatile("int3"); break;
	case 5: exit(deep(NULL)); break;
	case 6: raise(SIGBUS); break;
	case 7: abort(); break;
	case 8: syscall(SYS_getpriority, 77, 0); break; /* the program's own filter traps it */
	case 9: __asm__ volatile("int $0x80" ::"a"(20)); break;
	}
}

static void trap_getpriority(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpriority, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 77, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP | 5),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof code / sizeof code[0], code };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		perror("filter");
}

static void on_queued(int number, siginfo_t *info, void *context)
{
	(void)context;
	seen++;
	printf("signal +%d code %d value %d from self %d\n", number - SIGRTMIN, info->si_code, info->si_value.sival_int,
	       info->si_pid == getpid());
}

static void queue_signals(void)
{
	sigset_t some, before;
	struct sigaction action = { .sa_sigaction = on_queued, .sa_flags = SA_SIGINFO };
	sigemptyset(&some);
	for (int i = 0; i < 3; i++) {
		sigaddset(&some, SIGRTMIN + i);
		sigaction(SIGRTMIN + i, &action, NULL);
	}
	sigprocmask(SIG_BLOCK, &some, &before);
	for (int i = 8; i >= 0; i--)
		sigqueue(getpid(), SIGRTMIN + i % 3, (union sigval){ .sival_int = i });
	int fd = signalfd(-1, &some, SFD_NONBLOCK);
	struct signalfd_siginfo info;
	if (read(fd, &info, sizeof info) == (ssize_t)sizeof info)
		printf("signalfd +%u value %d code %d\n", info.ssi_signo - SIGRTMIN, info.ssi_int, info.ssi_code);
	sigprocmask(SIG_SETMASK, &before, NULL);
	timer_t timer;
	struct sigevent how = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1, .sigev_value.sival_int = 55 };
	struct itimerspec soon = { { 0, 0 }, { 0, 5000000 } };
	seen = 0;
	if (timer_create(CLOCK_MONOTONIC, &how, &timer) < 0 || timer_settime(timer, 0, &soon, NULL) < 0)
		perror("timer");
	while (!seen)
		usleep(1000);
}

static volatile sig_atomic_t burnt;
static void on_burnt(int number) { (void)number; burnt++; }

static void burn_time(void)
{
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { { 0, 0 }, { 0, 0 } };
	signal(SIGPROF, on_burnt);
	signal(SIGVTALRM, on_burnt);
	setitimer(ITIMER_PROF, &often, NULL);
	setitimer(ITIMER_VIRTUAL, &often, NULL);
	while (burnt < 10)
		;
	setitimer(ITIMER_PROF, &never, NULL);
	setitimer(ITIMER_VIRTUAL, &never, NULL);
	puts("profiled");
}

int main(int argc, char **argv)
{
	int with_foreign = argc > 1;
	(void)argv;
	setvbuf(stdout, NULL, _IOLBF, 0);
	struct rlimit small = { 1 << 20, 1 << 20 };
	setrlimit(RLIMIT_STACK, &small);
	alternate = malloc(65536);
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = alternate, .ss_size = 65536 };
	sigaltstack(&stack, NULL);
	static const int faults[] = { SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGBUS, SIGABRT, SIGSYS };
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
		sigaction(faults[i], &action, NULL);
	trap_getpriority();
	for (int which = 0; which < (with_foreign ? 10 : 9); which++)
		if (sigsetjmp(back, 1) == 0)
			provoke(which);
	queue_signals();
	burn_time();
	return 0;
}
