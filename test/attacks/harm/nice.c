/* setpriority: the supervisor becomes the last in the queue. */
#include "../attack.h"
int main(void) { return setpriority(PRIO_PROCESS, (id_t)supervisor(), 19) == 0 ? broke("it is slow now") : 1; }
