/* An absolute link that leads to the one and to the other: once it has led to the permitted one, its execs are known. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(PERMITTED, FORBIDDEN);
	symlink(PERMITTED, "a");
	symlink(FORBIDDEN, "b");
	run_once(text("%s/a", ALLOWED, NULL));
	start_exchange(r, "a", "b", 2000);
	return race_runs(r, text("%s/a", ALLOWED, NULL));
}
