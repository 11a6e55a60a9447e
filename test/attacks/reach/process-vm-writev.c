/* The memory of a process outside, overwritten by one call. */
#include "../attack.h"
int main(void)
{
	struct iovec here = { "changed", 8 }, there = { (void *)strtol(from_arena("A_OUTSIDER_CHANGEABLE"), NULL, 16), 8 };
	return worked(process_vm_writev(OUTSIDER, &here, 1, &there, 1, 0));
}
