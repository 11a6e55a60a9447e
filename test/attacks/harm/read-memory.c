/* process_vm_readv of the supervisor: an unmapped address tells whether it is permitted. */
#include "../attack.h"
int main(void)
{
	char byte;
	struct iovec to = { &byte, 1 }, from = { (void *)8, 1 };
	process_vm_readv(supervisor(), &to, 1, &from, 1, 0);
	return errno == EFAULT ? broke("its memory can be read") : 1;
}
