/* openat2, whose flags lie in memory. */
#include "../attack.h"
int main(void)
{
	struct open_how how = { .flags = O_RDWR | O_APPEND };
	return change((int)syscall(SYS_openat2, AT_FDCWD, outside_file(), &how, sizeof how));
}
