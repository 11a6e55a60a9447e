/* /proc/self/root is the root directory under another name. */
#include "../attack.h"
int main(void) { return run_file(text("/proc/self/root%s", FORBIDDEN, NULL)), 1; }
