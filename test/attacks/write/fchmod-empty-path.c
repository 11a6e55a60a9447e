/* Permission bits through an O_PATH handle: fchmodat2 with AT_EMPTY_PATH. */
#include "../attack.h"
int main(void) { return worked(syscall(452, open(outside_file(), O_PATH), "", 0640, AT_EMPTY_PATH)); }
