/* The socket moved to a place of ours. */
#include "../attack.h"
int main(void) { return rename(SOCKET_FILE, "mine") < 0 ? 1 : reach_file("mine"); }
