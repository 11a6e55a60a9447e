/* Needs: root. The machine's host name, through /proc/sys. */
#include "../attack.h"
int main(void) { return worked(open("/proc/self/../sys/kernel/hostname", O_WRONLY)) ? 1 : broke("a sysctl is open"); }
