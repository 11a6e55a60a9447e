/* Binding a socket through a linked folder: its path is a text in an address. */
#include "../attack.h"
int main(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "l/new" };
	return symlink(OUTSIDE, "l") < 0 ? 1 : worked(bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&a, sizeof a));
}
