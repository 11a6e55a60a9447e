/* The memory of a process outside, through /proc. */
#include "../attack.h"
int main(void)
{
	char bytes[256] = "";
	int fd = open(proc(OUTSIDER, text("task/%s/mem", from_arena("A_OUTSIDER"), NULL)), O_RDONLY);
	return pread(fd, bytes, OUTSIDER_LENGTH, OUTSIDER_ADDRESS) <= 0 ? 1 : puts(bytes) < 0;
}
