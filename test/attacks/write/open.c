/* Opens for writing. */
#include "../attack.h"
int main(void) { return change(open(outside_file(), O_WRONLY)); }
