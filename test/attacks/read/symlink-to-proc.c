/* A link to a magic link. */
#include "../attack.h"
int main(void) { return symlink("/proc/self/root", "r") < 0 ? 1 : show_file(text("r%s", SECRET, NULL)); }
