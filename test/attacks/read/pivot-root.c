/* Needs: root. Another root by pivot_root, with the old one below it. */
#include "../attack.h"
int main(void)
{
	mkdir("new", 0700);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || mount("none", "new", "tmpfs", 0, NULL) < 0)
		return 1;
	mkdir("new/old", 0700);
	return syscall(SYS_pivot_root, "new", "new/old") < 0 ? 1 : show_file(text("/old%s", SECRET, NULL));
}
