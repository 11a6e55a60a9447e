/* The plain way. */
#include "../attack.h"
int main(void) { return run_file(FORBIDDEN), 1; }
