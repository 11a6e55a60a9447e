/* A daemon: two forks and a session of its own. It must not outlive its session. */
#include "../attack.h"
int main(void)
{
	if (fork() > 0)
		return 0;
	setsid();
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	if (fork() > 0)
		_exit(0);
	close(0), close(1), close(2);
	for (;;)
		pause();
}
