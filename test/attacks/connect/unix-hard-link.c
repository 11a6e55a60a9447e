/* A second name for the socket. */
#include "../attack.h"
int main(void) { return link(SOCKET_FILE, "second") < 0 ? 1 : reach_file("second"); }
