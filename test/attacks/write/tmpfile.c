/* A file without a name made outside, and given a name there. */
#include "../attack.h"
int main(void)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", open(OUTSIDE, O_TMPFILE | O_RDWR, 0600));
	return worked(linkat(AT_FDCWD, path, AT_FDCWD, in(OUTSIDE, "new"), AT_SYMLINK_FOLLOW));
}
