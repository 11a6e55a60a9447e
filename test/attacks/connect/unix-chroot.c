/* Needs: root. After a chroot its path is another. */
#include "../attack.h"
int main(void) { return chroot(folder_of(SOCKET_FILE)) < 0 ? 1 : reach_file(text("/%s", name_of(SOCKET_FILE), NULL)); }
