/* A link that leads to the one and to the other. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(PERMITTED, FORBIDDEN);
	symlink(PERMITTED, "a");
	symlink(FORBIDDEN, "b");
	start_exchange(r, "a", "b", 0);
	return race_runs(r, "./a");
}
