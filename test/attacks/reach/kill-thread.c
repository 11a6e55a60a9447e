/* The same by its thread. */
#include "../attack.h"
int main(void) { return worked(syscall(SYS_tkill, OUTSIDER, SIGUSR1)) & worked(syscall(SYS_tgkill, OUTSIDER, OUTSIDER, SIGUSR2)); }
