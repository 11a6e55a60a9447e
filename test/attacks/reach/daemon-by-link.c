/* The same socket through a link and /proc/self/root. */
#include "../daemon.h"
int main(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "l/socket" };
	if (symlink(text("/proc/self/root%s", folder_of(from_arena("A_DAEMON")), NULL), "l") < 0)
		return 1;
	strcpy(a.sun_path, in("l", name_of(from_arena("A_DAEMON"))));
	return told(&a, sizeof a);
}
