/* Into the namespaces of a process outside. */
#include "../attack.h"
int main(void)
{
	int user = open(proc(HERMIT, "ns/user"), O_RDONLY), mounts = open(proc(HERMIT, "ns/mnt"), O_RDONLY);
	setns(user, CLONE_NEWUSER); /* root is in it already */
	return setns(mounts, CLONE_NEWNS) < 0 ? 1 : show_file(in(from_arena("A_HERMITAGE"), "token"));
}
