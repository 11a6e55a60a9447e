/* kcmp: what the supervisor and we have in common. */
#include "../attack.h"
int main(void) { return syscall(SYS_kcmp, getpid(), supervisor(), 1 /* VM */, 0, 0) >= 0 ? broke("it can be compared") : 1; }
