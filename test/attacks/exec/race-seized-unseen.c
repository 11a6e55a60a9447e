/* The program is seized by its parent, which does not want to see its execs: nothing stops it there. */
#include "../seized.h"
int main(void) { return race_seized(0, 0); }
