/* fexecve, which goes through /proc/self/fd where execveat is missing. */
#include "../attack.h"
int main(void)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", open(FORBIDDEN, O_RDONLY));
	return run_file(path), 1;
}
