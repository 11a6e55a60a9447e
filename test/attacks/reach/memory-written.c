/* The memory of a process outside, overwritten through /proc. */
#include "../attack.h"
int main(void)
{
	int fd = open(proc(OUTSIDER, "mem"), O_RDWR);
	return worked(pwrite(fd, "changed", 8, strtol(from_arena("A_OUTSIDER_CHANGEABLE"), NULL, 16)));
}
