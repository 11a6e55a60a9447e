/* Exchanged with a file of ours. */
#include "../attack.h"
int main(void) { return put("f", "x"), worked(syscall(SYS_renameat2, AT_FDCWD, "f", AT_FDCWD, outside_file(), 2)); }
