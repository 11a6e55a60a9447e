/* Needs: root. After a chroot to the arena, the secret has another path that looks harmless. */
#include "../attack.h"
int main(void) { return chroot(folder_of(folder_of(SECRET))) < 0 ? 1 : show_file(text("/%s", secret_from_above(), NULL)); }
