/* execve through int 0x80. */
#include "../attack.h"
int main(void)
{
	uint32_t *low = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long result;
	strcpy((char *)(low + 64), FORBIDDEN);
	low[0] = (uint32_t)(uintptr_t)(low + 64);
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(11), "b"((long)(low + 64)), "c"((long)low), "d"((long)(low + 4)) : "memory");
	return 1;
}
