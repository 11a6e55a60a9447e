/* A FIFO made. */
#include "../attack.h"
int main(void) { return worked(mknod(in(OUTSIDE, "new"), S_IFIFO | 0600, 0)); }
