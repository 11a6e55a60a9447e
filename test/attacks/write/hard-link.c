/* A second name inside for the file outside. */
#include "../attack.h"
int main(void) { return link(outside_file(), "l") < 0 ? 1 : change(open("l", O_WRONLY)); }
