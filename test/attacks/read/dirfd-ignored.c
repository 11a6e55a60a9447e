/* An absolute path makes the kernel ignore the descriptor, whatever it is. */
#include "../attack.h"
int main(void) { return show(openat(12345, SECRET, O_RDONLY)); }
