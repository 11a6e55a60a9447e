/* Garbage above the system call's number: the kernel looks at 32 bits, and so must everybody. */
#include "../attack.h"
int main(void) { return show((int)syscall((long)(0xdead00000000u | SYS_openat), AT_FDCWD, SECRET, O_RDONLY)); }
