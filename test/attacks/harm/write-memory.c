/* process_vm_writev of the supervisor. */
#include "../attack.h"
int main(void)
{
	char byte = 0;
	struct iovec from = { &byte, 1 }, to = { (void *)8, 1 };
	process_vm_writev(supervisor(), &from, 1, &to, 1, 0);
	return errno == EFAULT ? broke("its memory can be written") : 1;
}
