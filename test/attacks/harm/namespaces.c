/* setns by a pidfd of the supervisor: into its namespaces. Needs: root. */
#include "../attack.h"
int main(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, supervisor(), 0);
	return pidfd >= 0 && setns(pidfd, CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC) == 0 ? broke("we are where it is") : 1;
}
