/* A call from a signal handler that interrupted a call. */
#include "../attack.h"
static void act(int unused)
{
	(void)unused;
	mkdir(in(OUTSIDE, "new"), 0700);
}
int main(void)
{
	struct itimerval soon = { .it_value.tv_usec = 20000 };
	signal(SIGALRM, act);
	setitimer(ITIMER_REAL, &soon, NULL);
	pause();
	return 0;
}
