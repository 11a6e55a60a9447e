/* Needs: root. Mounted over a permitted program. */
#include "../attack.h"
int main(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || mount(FORBIDDEN, PERMITTED, NULL, MS_BIND, NULL) < 0)
		return 1;
	return run_file(PERMITTED), 1;
}
