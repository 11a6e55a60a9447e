/* Somebody whom a mediator might wait for. */
#pragma once
#include "attack.h"

/*
 * Whether another process is served while `stuck` is not. Bare, it is: only whoever acts for both can be frozen by one,
 * and `why` says how.
 */
static UNUSED int is_served_beside(pid_t stuck, const char *why)
{
	usleep(200000);
	pid_t other = fork();
	if (other == 0)
		_exit(mkdir("served", 0700) < 0);
	for (int i = 0; i < 300; i++, usleep(10000))
		if (waitpid(other, NULL, WNOHANG) == other) {
			kill(stuck, SIGKILL);
			return from_arena("A_SYSTEM")[0] == 'b' ? broke(why) : 1;
		}
	broke("nobody is served any more");
	kill(stuck, SIGKILL);
	return 0;
}
