/* The environment of a neighbour. */
#include "../attack.h"
int main(void) { return show_file(proc(atoi(from_arena("A_KEEPER")), "environ")); }
