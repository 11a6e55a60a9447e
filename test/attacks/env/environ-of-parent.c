/* /proc/PARENT/environ: what was taken from us is still there. */
#include "../attack.h"
int main(void) { return show_file(proc(launcher(), "environ")) & show_file(proc(supervisor(), "environ")); }
