/* SIGKILL to the supervisor. */
#include "../attack.h"
int main(void) { return kill(supervisor(), SIGKILL) == 0 && is_down(supervisor()) ? broke("it is dead") : 1; }
