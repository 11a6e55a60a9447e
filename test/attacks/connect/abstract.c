/* A socket without a file; some servers' names are padded to the end. */
#include "../attack.h"
int main(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	strcpy(a.sun_path + 1, ABSTRACT);
	int exact = reach(socket(AF_UNIX, SOCK_STREAM, 0), &a, offsetof(struct sockaddr_un, sun_path) + 1 + strlen(ABSTRACT));
	return reach(socket(AF_UNIX, SOCK_STREAM, 0), &a, sizeof a) & exact;
}
