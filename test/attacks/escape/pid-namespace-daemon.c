/* Needs: userns. A daemon that is the first process of its own namespace. */
#include "../attack.h"
int main(void)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
		return 1;
	if (fork() > 0)
		return 0;
	setsid();
	close(0), close(1), close(2);
	for (;;)
		pause();
}
