/* The same through a link. */
#include "../attack.h"
int main(void) { return symlink(folder_of(proc(supervisor(), "environ")), "l") < 0 ? 1 : show_file("l/environ"); }
