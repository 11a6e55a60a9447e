/* The link on a socket's way leads to its own folder while it is looked at, and outside when it is bound. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of("a", "b");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	snprintf(a.sun_path, sizeof a.sun_path, "%s/here/n", ALLOWED);
	if (symlink(".", "here") < 0 || symlink(OUTSIDE, "there") < 0)
		return 1;
	start_exchange(r, "here", "there", 3000);
	return race_binds(r, &a, "n");
}
