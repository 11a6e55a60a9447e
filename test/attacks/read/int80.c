/* openat through int 0x80: another ABI, other numbers, and a filter that looks at numbers alone sees something else. */
#include "../attack.h"
int main(void)
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long result;
	strcpy(low, SECRET);
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(295), "b"(AT_FDCWD), "c"((long)low), "d"(0), "S"(0) : "memory");
	return show((int)result);
}
