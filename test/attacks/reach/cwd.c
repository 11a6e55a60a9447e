/* The folder that a process outside is in leads to a secret. */
#include "../attack.h"
int main(void) { return show_file(proc(OUTSIDER, in("cwd", name_of(SECRET)))); }
