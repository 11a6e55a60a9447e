/*
 * Makes random system calls with random arguments: numbers at the edges, pointers to text, to garbage, to the end of
 * a page, and to nothing. Each child makes some and is killed if it does not come back. Usage: fuzz SEED CHILDREN
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS = 60, HIGHEST = 475, PAGE = 4096 };

/* What would end the machine, other processes, or the fuzzer's own bookkeeping. */
static const int LEFT_OUT[] = {
	SYS_fork, SYS_vfork, SYS_clone, SYS_clone3, SYS_exit, SYS_exit_group, SYS_kill, SYS_tkill, SYS_tgkill, SYS_reboot,
	SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_send_signal, SYS_setpgid, SYS_setsid, SYS_kexec_load,
	SYS_vhangup, SYS_shutdown, SYS_ptrace, SYS_prlimit64, SYS_setpriority, SYS_sched_setscheduler, SYS_sched_setattr,
	SYS_sched_setparam, SYS_sync, SYS_syncfs, SYS_swapoff, SYS_swapon, SYS_delete_module, SYS_init_module,
	SYS_process_madvise, SYS_sched_setaffinity, SYS_execve, SYS_execveat, SYS_chdir, SYS_chroot, SYS_mount,
};

static uint64_t state;
static unsigned char *memory;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static int left_out(int nr)
{
	for (size_t i = 0; i < sizeof LEFT_OUT / sizeof LEFT_OUT[0]; i++)
		if (LEFT_OUT[i] == nr)
			return 1;
	return 0;
}

static uint64_t argument(void)
{
	static const uint64_t EDGES[] = { 0, 1, 2, 3, 7, 16, 64, 255, 4095, 4096, 65536, 0x7fffffff, 0x80000000, 0xffffffff,
					  0x100000000, 0x7fffffffffffffff, 0x8000000000000000, (uint64_t)-1, (uint64_t)-100 };
	switch (next() % 8) {
	case 0:
	case 1:
		return EDGES[next() % (sizeof EDGES / sizeof EDGES[0])];
	case 2:
		return next();
	case 3:
		return next() % 64;
	case 4:
		return (uint64_t)(uintptr_t)(memory + 2 * PAGE - 1 - next() % 200); /* close to memory that is not there */
	case 5:
		return 0x1000;
	default:
		return (uint64_t)(uintptr_t)(memory + next() % (2 * PAGE - 512));
	}
}

static void fill(void)
{
	static const char *const TEXTS[] = { "a", "./b", "../c", "/dev/null", "/proc/self/status", "", "x/y/z", "\xff\xfe" };
	for (size_t i = 0; i + 8 < 2 * PAGE; i += 8) {
		uint64_t word = next() % 3 ? next() : (uint64_t)(uintptr_t)(memory + next() % (2 * PAGE));
		memcpy(memory + i, &word, 8);
	}
	for (int i = 0; i < 24; i++)
		strcpy((char *)memory + next() % (2 * PAGE - 64), TEXTS[next() % (sizeof TEXTS / sizeof TEXTS[0])]);
}

static void child(void)
{
	struct rlimit little = { 1 << 20, 1 << 20 }, space = { 1 << 30, 1 << 30 };
	setrlimit(RLIMIT_FSIZE, &little);
	setrlimit(RLIMIT_AS, &space);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < CALLS; i++) {
		int nr = (int)(next() % HIGHEST);
		fill();
		if (!left_out(nr))
			syscall(nr, argument(), argument(), argument(), argument(), argument(), argument());
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	state = strtoull(argv[1], NULL, 10) * 0x9e3779b97f4a7c15u + 1;
	memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(memory + 2 * PAGE, PAGE);
	for (int i = 0; i < atoi(argv[2]); i++) {
		next();
		pid_t pid = fork();
		if (pid == 0)
			child();
		for (int waited = 0; waitpid(pid, NULL, WNOHANG) == 0; waited++) {
			usleep(1000);
			if (waited == 300)
				kill(pid, SIGKILL);
		}
	}
	puts("done");
	return 0;
}
