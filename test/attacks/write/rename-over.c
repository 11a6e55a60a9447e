/* A file of ours moved over the one outside. */
#include "../attack.h"
int main(void) { return put("f", "x"), worked(rename("f", outside_file())); }
