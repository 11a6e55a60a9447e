/* /proc/self/root is the root directory under another name. */
#include "../attack.h"
int main(void) { return show_file(text("/proc/self/root%s", SECRET, NULL)); }
