/* openat(2), as every libc does. */
#include "../attack.h"
int main(void) { return show(openat(AT_FDCWD, SECRET, O_RDONLY)); }
