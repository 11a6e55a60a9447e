/* The folder that a socket is bound in is exchanged for a link to one outside, between the check and the bind. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of("a", "b");
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "folder/n" };
	mkdir("folder", 0700);
	if (symlink(OUTSIDE, "link") < 0)
		return 1;
	start_exchange(r, "folder", "link", 3000);
	return race_binds(r, &a, "folder/n");
}
