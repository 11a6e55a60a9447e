/* Needs: userns. The same without privileges. */
#include "../attack.h"
int main(void)
{
	mkdir("m", 0700);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 || mount(OUTSIDE, "m", NULL, MS_BIND, NULL) < 0)
		return 1;
	return change(open("m/file", O_WRONLY));
}
