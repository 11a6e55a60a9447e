/* A link whose name is no UTF-8: decoded carelessly, it names another file. */
#include "../attack.h"
int main(void) { return symlink(SECRET, "\xff\xfe\xc0\x80") < 0 ? 1 : show_file("\xff\xfe\xc0\x80"); }
