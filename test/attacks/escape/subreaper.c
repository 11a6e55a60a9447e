/* A process that adopts orphans itself, and hides its children from whoever counts on it. */
#include "../attack.h"
int main(void)
{
	if (fork() > 0)
		return 0;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	setsid();
	close(0), close(1), close(2);
	if (fork() > 0)
		pause();
	if (fork() > 0)
		_exit(0);
	for (;;)
		pause();
}
