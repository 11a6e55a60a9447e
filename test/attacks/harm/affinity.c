/* sched_setaffinity: the supervisor on one processor, which we keep busy. */
#include "../attack.h"
int main(void)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	return sched_setaffinity(supervisor(), sizeof one, &one) == 0 ? broke("it has one processor left") : 1;
}
