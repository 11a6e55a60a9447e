/* The name of what gets other permissions changes after the check. */
#include "../race.h"
int main(void)
{
	put("file", "");
	struct race *r = race_of(in(ALLOWED, "file"), outside_file());
	start_thread(r);
	for (int i = 0; goes_on(r, i); i++)
		chmod(r->path, 0600 + (mode_t)(i % 2));
	return r->over = 1, 0;
}
