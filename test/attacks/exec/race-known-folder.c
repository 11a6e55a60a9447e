/* The folder of a program that has run before is exchanged for another one. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(PERMITTED, FORBIDDEN);
	mkdir("one", 0755);
	mkdir("other", 0755);
	symlink(PERMITTED, "one/tool");
	symlink(FORBIDDEN, "other/tool");
	run_once(text("%s/one/tool", ALLOWED, NULL));
	start_exchange(r, "one", "other", 2000);
	return race_runs(r, text("%s/one/tool", ALLOWED, NULL));
}
