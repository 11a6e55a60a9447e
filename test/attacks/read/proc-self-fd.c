/* An O_PATH handle cannot be read, but it can be opened again for reading. */
#include "../attack.h"
int main(void)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", open(SECRET, O_PATH));
	return show_file(path);
}
