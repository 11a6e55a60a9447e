/* The place that something is moved to changes after the check. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(in(ALLOWED, "file"), outside_file());
	start_thread(r);
	for (int i = 0; goes_on(r, i); i++) {
		put("f", "changed");
		rename("f", r->path);
	}
	return r->over = 1, 0;
}
