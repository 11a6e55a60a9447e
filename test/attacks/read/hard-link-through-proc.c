/* A second name made from a descriptor: linkat with AT_SYMLINK_FOLLOW on /proc/self/fd. */
#include "../attack.h"
int main(void)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", open(SECRET, O_PATH));
	return linkat(AT_FDCWD, path, AT_FDCWD, "second", AT_SYMLINK_FOLLOW) < 0 ? 1 : show_file("second");
}
