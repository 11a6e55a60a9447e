/* kill(0): the whole process group, which the supervisor may be in. */
#include "../attack.h"
int main(void)
{
	pid_t pid = supervisor();
	signal(SIGTERM, SIG_IGN);
	if (getpgid(pid) != getpgrp())
		return 1;
	kill(0, SIGTERM);
	if (is_down(pid))
		return broke("it is dead");
	kill(0, SIGKILL);
	return 1;
}
