/* Opened for reading, opened again through /proc/self/fd for writing. */
#include "../attack.h"
int main(void)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", open(outside_file(), O_RDONLY));
	return change(open(path, O_WRONLY));
}
