/* A second name. */
#include "../attack.h"
int main(void) { return link(FORBIDDEN, "ls") < 0 ? 1 : (run_file("./ls"), 1); }
