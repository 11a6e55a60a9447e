/* truncate(2): no descriptor at all. */
#include "../attack.h"
int main(void) { return worked(truncate(outside_file(), 2)); }
