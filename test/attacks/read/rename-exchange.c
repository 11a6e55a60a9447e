/* Exchanged with a file of ours, at once. */
#include "../attack.h"
int main(void)
{
	put("mine", "x");
	return syscall(SYS_renameat2, AT_FDCWD, "mine", AT_FDCWD, SECRET, 2) < 0 ? 1 : show_file("mine");
}
