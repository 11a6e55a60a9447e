/* The same server, by an abstract address. */
#include "../daemon.h"
int main(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const char *abstract = from_arena("A_DAEMON_ABSTRACT");
	strncpy(a.sun_path + 1, abstract, sizeof a.sun_path - 2);
	return told(&a, offsetof(struct sockaddr_un, sun_path) + 1 + strlen(abstract));
}
