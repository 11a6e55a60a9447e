/* ioprio_set: the supervisor's reads and writes come last. */
#include "../attack.h"
int main(void) { return syscall(SYS_ioprio_set, 1, supervisor(), 3 << 13) == 0 ? broke("its input and output come last") : 1; }
