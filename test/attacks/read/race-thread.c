/* A second thread rewrites the path between the check and the use. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(PUBLIC, SECRET);
	start_thread(r);
	return race_reads(r);
}
