/* Needs: root. A copy of the tree, attached where it may be read. */
#include "../attack.h"
int main(void)
{
	mkdir("m", 0700);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return 1;
	int tree = (int)syscall(SYS_open_tree, AT_FDCWD, folder_of(SECRET), 1);
	return syscall(SYS_move_mount, tree, "", AT_FDCWD, "m", 4 /* F_EMPTY_PATH */) < 0 ? 1 : show_file("m/token");
}
