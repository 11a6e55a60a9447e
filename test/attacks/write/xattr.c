/* An extended attribute. */
#include "../attack.h"
int main(void) { return worked(setxattr(outside_file(), "user.mark", "x", 1, 0)); }
