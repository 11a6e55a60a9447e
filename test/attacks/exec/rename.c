/* Another name. */
#include "../attack.h"
int main(void) { return rename(FORBIDDEN, "ls") < 0 ? 1 : (run_file("./ls"), 1); }
