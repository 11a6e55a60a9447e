/* Needs: root. Where the kernel writes core dumps, and which program it hands them to. */
#include "../attack.h"
int main(void) { return worked(open("/proc/sys/kernel/core_pattern", O_WRONLY)) ? 1 : broke("core_pattern is open"); }
