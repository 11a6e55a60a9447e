/* O_RDONLY|O_TRUNC reads, and empties the file. */
#include "../attack.h"
int main(void) { return worked(open(outside_file(), O_RDONLY | O_TRUNC)); }
