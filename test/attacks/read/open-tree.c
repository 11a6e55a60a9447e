/* Needs: root. The new mount API: a copy of the tree, never attached anywhere. */
#include "../attack.h"
int main(void)
{
	int tree = (int)syscall(SYS_open_tree, AT_FDCWD, folder_of(SECRET), 1 /* OPEN_TREE_CLONE */);
	return tree < 0 ? 1 : show(openat(tree, "token", O_RDONLY));
}
