/* A link made outside. */
#include "../attack.h"
int main(void) { return worked(symlink("/anywhere", in(OUTSIDE, "new"))); }
