/* migrate_pages: the supervisor's memory is moved about. */
#include "../attack.h"
int main(void)
{
	unsigned long node = 1;
	return syscall(SYS_migrate_pages, supervisor(), 8, &node, &node) >= 0 ? broke("its memory was moved") : 1;
}
