/* The same through /dev/fd. */
#include "../attack.h"
int main(void)
{
	char path[64];
	snprintf(path, sizeof path, "/dev/fd/%d", open(SECRET, O_PATH | O_NOFOLLOW));
	return show_file(path);
}
