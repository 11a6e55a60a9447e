/* A copy under another name is another file: where only some may run, it may not. */
#include "../attack.h"
int main(void) { return copy(FORBIDDEN, "ls"), run_file("./ls"), 1; }
