/* pidfd_getfd: the descriptor that a neighbour has open. */
#include "../attack.h"
int main(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, atoi(from_arena("A_KEEPER")), 0);
	return show((int)syscall(SYS_pidfd_getfd, pidfd, atoi(from_arena("A_KEEPER_FD")), 0));
}
