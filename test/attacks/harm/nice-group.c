/* The same for the whole group, or for the user. */
#include "../attack.h"
int main(void)
{
	pid_t pid = supervisor();
	setpriority(PRIO_PGRP, (id_t)getpgid(pid), 18);
	errno = 0;
	return getpriority(PRIO_PROCESS, (id_t)pid) == 18 ? broke("it is slow now") : 1;
}
