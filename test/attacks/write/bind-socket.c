/* Binding a socket makes a file. */
#include "../attack.h"
int main(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	if (chdir(OUTSIDE) < 0)
		return 1;
	strcpy(a.sun_path, "new");
	return worked(bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&a, sizeof a));
}
