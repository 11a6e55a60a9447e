/* The same with F_SETOWN_EX, whose target lies in memory. */
#include "../attack.h"
int main(void)
{
	pid_t pid = supervisor();
	struct f_owner_ex owner = { F_OWNER_PID, pid };
	int ends[2];
	if (pipe(ends) < 0 || fcntl(ends[0], F_SETOWN_EX, &owner) < 0 || fcntl(ends[0], F_SETSIG, SIGKILL) < 0 || fcntl(ends[0], F_SETFL, O_ASYNC) < 0)
		return 1;
	return write(ends[1], "x", 1) == 1 && is_down(pid) ? broke("it is dead") : 1;
}
