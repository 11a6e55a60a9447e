/* A link with a harmless name. */
#include "../attack.h"
int main(void) { return symlink(FORBIDDEN, "ls"), run_file("./ls"), 1; }
