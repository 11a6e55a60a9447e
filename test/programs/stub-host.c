/*
 * Runs a stub of the fast tier where it would run in a program: at a low address, with a lane behind the gs register.
 * Usage: stub-host LANE_SIZE TIMES FULL < CODE > LANE
 * CODE lies at 0x70000400 and returns; the byte at 0x70000000 + nr says which calls are recorded. With FULL the lane has
 * that many records too few. Exits with 1 when a register that must be kept was not.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint8_t *const gate = (uint8_t *)0x70000000;

/* Calls the stub with known registers. Returns its rax, or -1000 when another register changed. */
static long run(long number)
{
	register long r10 __asm__("r10") = 4, r8 __asm__("r8") = 5, r9 __asm__("r9") = 6;
	long rdi = 1, rsi = 2, rdx = 3, rbx = 7, rax = number;
	__asm__ volatile("sub $128, %%rsp\n\tcall *%[code]\n\tadd $128, %%rsp"
			 : "+a"(rax), "+D"(rdi), "+S"(rsi), "+d"(rdx), "+b"(rbx), "+r"(r10), "+r"(r8), "+r"(r9)
			 : [code] "r"((uintptr_t)gate + 0x400)
			 : "rcx", "r11", "memory", "cc");
	return rdi == 1 && rsi == 2 && rdx == 3 && rbx == 7 && r10 == 4 && r8 == 5 && r9 == 6 ? rax : -1000;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	size_t size = (size_t)atol(argv[1]);
	long times = atol(argv[2]), full = atol(argv[3]);
	uint8_t *lane = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *code = mmap(gate, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (lane == MAP_FAILED || code != gate || read(0, code + 0x400, 4096) <= 0)
		return 3;
	memset(gate + SYS_getppid, 1, 1);
	*(uint32_t *)(lane + 64) = (uint32_t)-full; /* the tail */
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, lane) < 0)
		return 4;
	for (long i = 0; i < times; i++)
		if (run(SYS_getppid) == -1000)
			return 1;
	return write(1, lane, size) == (ssize_t)size ? 0 : 5;
}
