/* Another process rewrites the path in memory that both have mapped. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(PUBLIC, SECRET);
	if (fork() == 0)
		rewrite_as_process(r);
	return race_reads(r);
}
