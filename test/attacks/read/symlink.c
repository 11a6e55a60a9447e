/* A symbolic link in a folder of ours. */
#include "../attack.h"
int main(void) { return symlink(SECRET, "link") < 0 ? 1 : show_file("link"); }
