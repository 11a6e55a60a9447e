/* Needs: userns. The same without privileges: a user namespace gives them. */
#include "../attack.h"
int main(void)
{
	mkdir("m", 0700);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 || mount(folder_of(SECRET), "m", NULL, MS_BIND, NULL) < 0)
		return 1;
	return show_file("m/token");
}
