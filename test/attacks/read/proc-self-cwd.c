/* Through /proc/self/cwd after a chdir into the folder. */
#include "../attack.h"
int main(void) { return chdir(folder_of(SECRET)) < 0 ? 1 : show_file("/proc/self/cwd/token"); }
