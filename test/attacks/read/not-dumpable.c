/* A process that is not dumpable: an ordinary supervisor cannot read its memory. */
#include "../attack.h"
int main(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	return show_file(SECRET);
}
