/* The environment of a process outside of the session. */
#include "../attack.h"
int main(void) { return show_file(proc(OUTSIDER, "environ")); }
