/* A link that leads here and there: what it led to when it was looked at is not what is opened. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(PUBLIC, SECRET);
	symlink(PUBLIC, "link");
	symlink(SECRET, "b");
	start_exchange(r, "link", "b", 0);
	return race_reads_of(r, "link");
}
