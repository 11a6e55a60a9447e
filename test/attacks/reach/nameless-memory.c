/* A memory file that a process outside has open: it has no name anywhere else. */
#include "../attack.h"
int main(void) { return show_file(proc(OUTSIDER, text("fd/%s", from_arena("A_OUTSIDER_MEMORY"), NULL))); }
