/* The same through a link. */
#include "../attack.h"
int main(void) { return symlink(SOCKET_FILE, "l") < 0 ? 1 : reach_file("l"); }
