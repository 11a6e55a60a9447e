/* A second name for the same file. */
#include "../attack.h"
int main(void) { return link(SECRET, "second") < 0 ? 1 : show_file("second"); }
