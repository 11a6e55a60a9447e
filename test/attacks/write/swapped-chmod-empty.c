/* … by an empty path. */
#include "../swap.h"
static long call(int fd) { return syscall(452 /* fchmodat2 */, fd, "", 0640, AT_EMPTY_PATH); }
int main(void) { return swapped(call); }
