/* Needs: root. A new binary format runs our interpreter for others. */
#include "../attack.h"
int main(void)
{
	if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
		mount("binfmt_misc", "/proc/sys/fs/binfmt_misc", "binfmt_misc", 0, NULL);
	return worked(open("/proc/sys/fs/binfmt_misc/register", O_WRONLY)) ? 1 : broke("a binary format can be registered");
}
