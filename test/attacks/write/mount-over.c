/* Needs: root. An empty file system mounted over it, for everybody. */
#include "../attack.h"
int main(void)
{
	if (mount("none", OUTSIDE, "tmpfs", 0, NULL) < 0)
		return 1;
	broke("it is mounted over");
	return umount2(OUTSIDE, MNT_DETACH);
}
