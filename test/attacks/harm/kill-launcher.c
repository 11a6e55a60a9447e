/* SIGKILL to the process above us: who ends the session then? */
#include "../attack.h"
int main(void)
{
	pid_t pid = launcher();
	return kill(pid, SIGKILL) == 0 && is_down(pid) ? broke("it is dead") : 1;
}
