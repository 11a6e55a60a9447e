/* /proc/self/root is the root directory under another name. */
#include "../attack.h"
int main(void) { return change(open(text("/proc/self/root%s", outside_file(), NULL), O_WRONLY)); }
