/* Typing on the terminal of another session (TIOCSTI). Needs: root. */
#include "../attack.h"
int main(void)
{
	int fd = open(from_arena("A_OUTSIDER_TERMINAL"), O_RDWR | O_NOCTTY);
	return worked(ioctl(fd, TIOCSTI, "x"));
}
