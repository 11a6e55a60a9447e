/* A link to a file that is not there yet: O_CREAT makes it where the link leads. */
#include "../attack.h"
int main(void) { return symlink(in(OUTSIDE, "new"), "l") < 0 ? 1 : change(open("l", O_WRONLY | O_CREAT, 0600)); }
