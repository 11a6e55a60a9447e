/* tkill to every thread of the supervisor. */
#include "../attack.h"
int main(void)
{
	pid_t pid = supervisor();
	int hit = 0;
	for (pid_t tid = pid; tid < pid + 64; tid++)
		if (syscall(SYS_tgkill, pid, tid, 0) == 0 || tid == pid)
			hit |= syscall(SYS_tkill, tid, SIGKILL) == 0;
	return hit && is_down(pid) ? broke("it is dead") : 1;
}
