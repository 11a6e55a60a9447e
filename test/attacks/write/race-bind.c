/* A socket's path changes after the check. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of("./n", "l/n");
	struct sockaddr_un *a = (struct sockaddr_un *)(r->path + 100);
	symlink(OUTSIDE, "l");
	a->sun_family = AF_UNIX;
	strcpy(a->sun_path, "./n");
	r->at += (size_t)(a->sun_path - r->path);
	start_thread(r);
	return race_binds(r, a, "./n");
}
