/* socketcall through int 0x80. */
#include "../attack.h"
int main(void)
{
	uint32_t *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	struct sockaddr_in a = v4("127.0.0.1");
	long result;
	memcpy(low + 16, &a, sizeof a);
	low[0] = (uint32_t)socket(AF_INET, SOCK_STREAM, 0);
	low[1] = (uint32_t)(uintptr_t)(low + 16);
	low[2] = sizeof a;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(102), "b"(3), "c"((long)low) : "memory");
	return worked(result);
}
