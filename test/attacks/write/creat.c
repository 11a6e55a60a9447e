/* creat(2). */
#include "../attack.h"
int main(void) { return worked(syscall(SYS_creat, in(OUTSIDE, "new"), 0600)); }
