/* SIGKILL to our parent, which makes calls for us: who makes them then? */
#include "../attack.h"
int main(void)
{
	pid_t pid = broker();
	return kill(pid, SIGKILL) == 0 && is_down(pid) ? broke("it is dead") : 1;
}
