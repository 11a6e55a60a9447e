/* Time stamps by a descriptor whose number means another file after the check. */
#include "../swap.h"
static long call(int fd)
{
	struct timespec times[2] = { { 1, 0 }, { 1, 0 } };
	return futimens(fd, times);
}
int main(void) { return swapped(call); }
