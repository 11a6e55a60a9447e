/* Needs: root. The server's folder mounted a second time. */
#include "../attack.h"
int main(void)
{
	mkdir("m", 0700);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || mount(folder_of(SOCKET_FILE), "m", NULL, MS_BIND, NULL) < 0)
		return 1;
	return reach_file(in("m", name_of(SOCKET_FILE)));
}
