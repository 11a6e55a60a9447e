/* Needs: userns. The same without privileges. */
#include "../attack.h"
int main(void)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 || mount(FORBIDDEN, PERMITTED, NULL, MS_BIND, NULL) < 0)
		return 1;
	return run_file(PERMITTED), 1;
}
