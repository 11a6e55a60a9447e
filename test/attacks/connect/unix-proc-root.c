/* Through /proc/self/root and a link, as addresses are short. */
#include "../attack.h"
int main(void) { return symlink(text("/proc/self/root%s", folder_of(SOCKET_FILE), NULL), "s") < 0 ? 1 : reach_file(in("s", name_of(SOCKET_FILE))); }
