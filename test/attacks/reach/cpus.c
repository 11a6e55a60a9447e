/* The CPUs that a process outside may run on. */
#include "../attack.h"
int main(void)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	return worked(sched_setaffinity(OUTSIDER, sizeof one, &one));
}
