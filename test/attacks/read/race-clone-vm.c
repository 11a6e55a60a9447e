/* A process made with CLONE_VM shares all memory and is no thread. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(PUBLIC, SECRET);
	static char stack[65536];
	if (clone(rewrite_as_process, stack + sizeof stack, CLONE_VM | SIGCHLD, r) < 0)
		return 1;
	return race_reads(r);
}
