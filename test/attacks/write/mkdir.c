/* A folder made. */
#include "../attack.h"
int main(void) { return worked(mkdirat(open(OUTSIDE, O_PATH), "new", 0700)); }
