/* F_SETOWN and F_SETSIG: the kernel sends the signal when a pipe has data. */
#include "../attack.h"
int main(void)
{
	pid_t pid = supervisor();
	int ends[2];
	if (pipe(ends) < 0 || fcntl(ends[0], F_SETOWN, pid) < 0 || fcntl(ends[0], F_SETSIG, SIGKILL) < 0 || fcntl(ends[0], F_SETFL, O_ASYNC) < 0)
		return 1;
	return write(ends[1], "x", 1) == 1 && is_down(pid) ? broke("it is dead") : 1;
}
