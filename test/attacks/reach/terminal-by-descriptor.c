/* The same terminal, by a descriptor of whom it belongs to. */
#include "../attack.h"
#include <sys/sysmacros.h>
int main(void)
{
	struct stat s;
	for (int i = 3; i < 40; i++) {
		char number[16];
		snprintf(number, sizeof number, "fd/%d", i);
		int fd = open(proc(OUTSIDER, number), O_WRONLY | O_NOCTTY | O_NONBLOCK);
		/* The end that a shell would have: the other one gives a new terminal. */
		if (fd >= 0 && fstat(fd, &s) == 0 && S_ISCHR(s.st_mode) && major(s.st_rdev) == 136 && change(fd) == 0)
			return 0;
		close(fd);
	}
	return 1;
}
