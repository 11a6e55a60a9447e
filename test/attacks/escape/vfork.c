/* A vfork child acts while its parent is frozen. */
#include "../attack.h"
int main(void)
{
	const char *path = in(OUTSIDE, "new");
	if (vfork() == 0)
		_exit(mkdir(path, 0700) < 0);
	return 0;
}
