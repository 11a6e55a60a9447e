/* A socket in the file system. */
#include "../attack.h"
int main(void) { return reach_file(SOCKET_FILE); }
