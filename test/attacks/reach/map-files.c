/* What a process outside has mapped. Needs: root. */
#include "../attack.h"
int main(void) { return show_file(proc(OUTSIDER, text("map_files/%s", from_arena("A_OUTSIDER_MAP"), NULL))); }
