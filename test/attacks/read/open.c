/* The plainest way: open(2), which libc no longer uses. */
#include "../attack.h"
int main(void) { return show((int)syscall(SYS_open, SECRET, O_RDONLY)); }
