/* A name outside for a file of ours. */
#include "../attack.h"
int main(void) { return put("f", "x"), worked(link("f", in(OUTSIDE, "new"))); }
