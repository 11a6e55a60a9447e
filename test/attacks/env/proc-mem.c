/* The neighbour's memory through /proc. */
#include "../attack.h"
int main(void)
{
	char bytes[256] = "";
	int fd = open(proc(atoi(from_arena("A_KEEPER")), "mem"), O_RDONLY);
	return pread(fd, bytes, (size_t)atoi(from_arena("A_KEEPER_LENGTH")), strtol(from_arena("A_KEEPER_ADDRESS"), NULL, 16)) <= 0 ? 1 : puts(bytes) < 0;
}
