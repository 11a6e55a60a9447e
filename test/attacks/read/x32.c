/* Needs: x32. The x32 ABI: bit 30 set in the number. */
#include "../attack.h"
int main(void) { return show((int)syscall(0x40000000 + SYS_openat, AT_FDCWD, SECRET, O_RDONLY)); }
