/* A link of ours leads into the folder of a process outside. */
#include "../attack.h"
int main(void) { return symlink(folder_of(proc(OUTSIDER, "environ")), "l") < 0 ? 1 : show_file("l/environ"); }
