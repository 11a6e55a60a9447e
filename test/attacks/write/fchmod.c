/* Permission bits through a descriptor for reading. */
#include "../attack.h"
int main(void) { return worked(fchmod(open(outside_file(), O_RDONLY), 0640)); }
