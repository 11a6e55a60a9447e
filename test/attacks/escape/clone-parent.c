/* CLONE_PARENT: a child that is its parent's sibling. */
#include "../attack.h"
static int stay(void *unused)
{
	(void)unused;
	setsid();
	close(0), close(1), close(2);
	for (;;)
		pause();
	return 0;
}
int main(void)
{
	static char stack[65536];
	return clone(stay, stack + sizeof stack, CLONE_PARENT | SIGCHLD, NULL) < 0;
}
