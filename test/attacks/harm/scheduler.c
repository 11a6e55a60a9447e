/* sched_setscheduler: the supervisor runs when nobody else wants to. */
#include "../attack.h"
int main(void)
{
	struct sched_param none = { 0 };
	return sched_setscheduler(supervisor(), SCHED_IDLE, &none) == 0 ? broke("it runs when nobody else wants to") : 1;
}
