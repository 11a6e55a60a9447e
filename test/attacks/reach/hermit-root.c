/* The root of a process in another mount namespace: its files have no name in ours. */
#include "../attack.h"
int main(void) { return show_file(proc(HERMIT, text("root%s/token", from_arena("A_HERMITAGE"), NULL))); }
