/* Our parent, which makes calls for us and holds the listener, becomes our puppet. */
#include "../attack.h"
int main(void)
{
	pid_t pid = broker();
	if (ptrace(PTRACE_ATTACH, pid, 0, 0) < 0)
		return 1;
	broke("it is traced");
	waitpid(pid, NULL, __WALL);
	return ptrace(PTRACE_DETACH, pid, 0, 0) < 0;
}
