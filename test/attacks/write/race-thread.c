/* A second thread rewrites the path between the check and the use. */
#include "../race.h"
int main(void)
{
	put("file", "");
	struct race *r = race_of(in(ALLOWED, "file"), outside_file());
	start_thread(r);
	return race_writes(r);
}
