/* The terminal of another session becomes ours: its owner loses it. Needs: root. */
#include "../attack.h"
int main(void)
{
	if (fork() == 0) {
		int fd = setsid() < 0 ? -1 : open(from_arena("A_OUTSIDER_TERMINAL"), O_RDWR | O_NOCTTY);
		if (fd >= 0 && ioctl(fd, TIOCSCTTY, 1) == 0)
			broke("the terminal of another session is ours");
		_exit(0);
	}
	return wait(NULL) < 0;
}
