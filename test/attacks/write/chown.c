/* Needs: root. The owner, through an O_PATH handle and an empty path. */
#include "../attack.h"
int main(void) { return worked(fchownat(open(outside_file(), O_PATH), "", 1, 1, AT_EMPTY_PATH)); }
