/* Needs: root. After a chroot its path is another. */
#include "../attack.h"
int main(void) { return chroot(folder_of(FORBIDDEN)) < 0 ? 1 : (run_file("/forbidden"), 1); }
