/* Removed. */
#include "../attack.h"
int main(void) { return worked(unlinkat(open(OUTSIDE, O_PATH), "file", 0)); }
