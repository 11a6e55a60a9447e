/* Needs: root. An overlay whose lower folder is the secret's. */
#include "../attack.h"
int main(void)
{
	char options[BIG];
	mkdir("m", 0700);
	mkdir("other", 0700);
	snprintf(options, sizeof options, "lowerdir=%s:%s/other", folder_of(SECRET), ALLOWED);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || mount("none", "m", "overlay", MS_RDONLY, options) < 0)
		return 1;
	return show_file("m/token");
}
