/* Permission bits, by the newest call for it. */
#include "../attack.h"
int main(void) { return worked(syscall(452 /* fchmodat2 */, AT_FDCWD, outside_file(), 0640, 0)); }
