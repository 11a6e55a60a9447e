/* Opens argv[1] a thousand times by hand and checks that neither the path nor any register was changed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char path[512], text[6] = "";
	int registers_kept = 1;
	if (argc != 2)
		return 2;
	snprintf(path, sizeof path, "%s", argv[1]);
	for (int i = 0; i < 1000; i++) {
		register long rdi asm("rdi") = AT_FDCWD;
		register const char *rsi asm("rsi") = path;
		register long rdx asm("rdx") = O_RDONLY;
		register long r10 asm("r10") = 0x1234;
		register long r8 asm("r8") = 0x5678;
		register long r9 asm("r9") = 0x9abc;
		long fd = SYS_openat;
		asm volatile("syscall"
			     : "+a"(fd), "+r"(rdi), "+r"(rsi), "+r"(rdx), "+r"(r10), "+r"(r8), "+r"(r9)
			     :
			     : "rcx", "r11", "memory");
		if (rdi != AT_FDCWD || rsi != path || rdx != O_RDONLY || r10 != 0x1234 || r8 != 0x5678 || r9 != 0x9abc)
			registers_kept = 0;
		if (read((int)fd, text, 5) != 5)
			return 1;
		close((int)fd);
	}
	printf("%s %s %s\n", text, strcmp(path, argv[1]) == 0 ? "path-kept" : "path-changed",
	       registers_kept ? "registers-kept" : "registers-changed");
	return 0;
}
