/* Permission bits by a descriptor whose number means another file after the check. */
#include "../swap.h"
static long call(int fd) { return fchmod(fd, 0640); }
int main(void) { return swapped(call); }
