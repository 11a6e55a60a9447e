/* process_vm_readv of a neighbour that keeps the secret in its memory. */
#include "../attack.h"
int main(void)
{
	char bytes[256] = "";
	struct iovec to = { bytes, (size_t)atoi(from_arena("A_KEEPER_LENGTH")) };
	struct iovec from = { (void *)strtoul(from_arena("A_KEEPER_ADDRESS"), NULL, 16), to.iov_len };
	return process_vm_readv(atoi(from_arena("A_KEEPER")), &to, 1, &from, 1, 0) < 0 ? 1 : puts(bytes) < 0;
}
