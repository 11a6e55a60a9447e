/* A script whose first line changes while it is started. */
#include "../race.h"
static void *scribble(void *context)
{
	struct race *r = context;
	const char *good = text("#!%s\n", PERMITTED, NULL), *bad = text("#!%s\n", FORBIDDEN, NULL);
	while (flipping(r)) {
		put("new", good);
		chmod("new", 0755);
		rename("new", "script");
		pause_a_little(r, 5000);
		put("new", bad);
		chmod("new", 0755);
		rename("new", "script");
		pause_a_little(r, 5000);
	}
	return NULL;
}
int main(void)
{
	struct race *r = race_of(PERMITTED, FORBIDDEN);
	pthread_t thread;
	pthread_create(&thread, NULL, scribble, r);
	return race_runs(r, "./script");
}
