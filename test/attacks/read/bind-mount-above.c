/* Needs: root. The whole root mounted a second time. */
#include "../attack.h"
int main(void)
{
	mkdir("m", 0700);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || mount("/", "m", NULL, MS_BIND | MS_REC, NULL) < 0)
		return 1;
	return show_file(text("m%s", SECRET, NULL));
}
