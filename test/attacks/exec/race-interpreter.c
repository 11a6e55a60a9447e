/* The interpreter of a script is a link that leads to the one and to the other. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(PERMITTED, FORBIDDEN);
	symlink(PERMITTED, "a");
	symlink(FORBIDDEN, "b");
	put("script", text("#!%s/a\n", ALLOWED, NULL));
	chmod("script", 0755);
	run_once(text("%s/script", ALLOWED, NULL));
	start_exchange(r, "a", "b", 2000);
	return race_runs(r, text("%s/script", ALLOWED, NULL));
}
