/* Into the stdin of a process outside. */
#include "../attack.h"
int main(void) { return change(open(proc(OUTSIDER, "fd/0"), O_WRONLY | O_NONBLOCK)); }
