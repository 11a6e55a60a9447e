/* mkdir through int 0x80, where its number is another one. */
#include "../attack.h"
int main(void)
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long result;
	strcpy(low, in(OUTSIDE, "new"));
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(39), "b"((long)low), "c"(0700) : "memory");
	return worked(result);
}
