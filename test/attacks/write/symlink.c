/* A link in the allowed folder leads outside. */
#include "../attack.h"
int main(void) { return symlink(outside_file(), "l") < 0 ? 1 : change(open("l", O_WRONLY | O_CREAT, 0600)); }
