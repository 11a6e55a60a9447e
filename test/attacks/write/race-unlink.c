/* The name of what is to be removed changes after the check. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(in(ALLOWED, "file"), outside_file());
	start_thread(r);
	for (int i = 0; goes_on(r, i); i++)
		if (unlink(r->path) == 0)
			put("file", "");
	return r->over = 1, 0;
}
