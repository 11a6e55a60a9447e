/* The access mode 3, opened again for writing. */
#include "../attack.h"
int main(void)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", open(outside_file(), 3));
	return change(open(path, O_WRONLY));
}
