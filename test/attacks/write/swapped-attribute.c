/* An extended attribute by a descriptor whose number means another file after the check. */
#include "../swap.h"
static long call(int fd) { return fsetxattr(fd, "user.hermes", "x", 1, 0); }
int main(void) { return swapped(call); }
