/* The same by way of our own folder. */
#include "../attack.h"
int main(void) { return show_file(text("/proc/self/../%s", proc(supervisor(), "environ") + 6, NULL)); }
