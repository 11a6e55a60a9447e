/* Needs: root. After a chroot, the secret is at /token. */
#include "../attack.h"
int main(void) { return chroot(folder_of(SECRET)) < 0 || chdir("/") < 0 ? 1 : show_file("/token"); }
