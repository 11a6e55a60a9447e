/* With dots and slashes. */
#include "../attack.h"
int main(void) { return reach_file("../allowed/.././/server/socket"); }
