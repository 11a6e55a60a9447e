/* TIOCSTI: keys typed into the terminal, for the shell that comes after us. Needs: terminal. */
#include "../attack.h"
#include <pty.h>
int main(void)
{
	int master, slave;
	if (openpty(&master, &slave, NULL, NULL, NULL) < 0)
		return 1;
	if (fork() == 0) {
		setsid();
		ioctl(slave, TIOCSCTTY, 0);
		if (ioctl(slave, TIOCSTI, "x") == 0)
			broke("a key was typed for somebody else");
		_exit(0);
	}
	return wait(NULL) < 0;
}
