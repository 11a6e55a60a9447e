/* /proc/thread-self/root, and through a thread's own folder. */
#include "../attack.h"
int main(void) { return show_file(text("/proc/thread-self/root/proc/self/task/../root%s", SECRET, NULL)); }
