/* What the x86-64 kernel does with calls, by numbers that no user-space header has. */
#ifndef HERMES_ABI_H
#define HERMES_ABI_H

#include <signal.h>

enum {
	X32_CALLS = 0x40000000,        /* from this number on, calls of the x32 ABI */
	ERESTARTSYS = 512,             /* the kernel's own: make the call again, or fail it with EINTR */
	SYSCALL_STOP = SIGTRAP | 0x80, /* the stop signal of a system call stop (PTRACE_O_TRACESYSGOOD) */
	SYSCALL_LENGTH = 2,            /* bytes of a syscall instruction */
};

#endif
