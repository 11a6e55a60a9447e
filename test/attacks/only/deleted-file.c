/* A copy that was removed while it was open. */
#include "../attack.h"
int main(void)
{
	char path[64];
	copy(FORBIDDEN, "x");
	snprintf(path, sizeof path, "/proc/self/fd/%d", open("x", O_RDONLY));
	unlink("x");
	return run_file(path), 1;
}
