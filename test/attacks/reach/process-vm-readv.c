/* The memory of a process outside, by one call. */
#include "../attack.h"
int main(void)
{
	char bytes[256] = "";
	struct iovec here = { bytes, OUTSIDER_LENGTH }, there = { (void *)OUTSIDER_ADDRESS, OUTSIDER_LENGTH };
	return process_vm_readv(OUTSIDER, &here, 1, &there, 1, 0) <= 0 ? 1 : puts(bytes) < 0;
}
