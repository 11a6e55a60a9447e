/* openat2(2), whose flags lie in memory and which older tables do not know. */
#include "../attack.h"
int main(void)
{
	struct open_how how = { .flags = O_RDONLY };
	return show((int)syscall(SYS_openat2, AT_FDCWD, SECRET, &how, sizeof how));
}
