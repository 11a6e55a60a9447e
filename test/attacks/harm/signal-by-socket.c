/* The same with an ioctl of sockets (FIOSETOWN). */
#include "../attack.h"
#include <linux/sockios.h>
int main(void)
{
	int pid = supervisor(), pair[2], on = 1;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 || ioctl(pair[0], FIOSETOWN, &pid) < 0 || fcntl(pair[0], F_SETSIG, SIGKILL) < 0 || ioctl(pair[0], FIOASYNC, &on) < 0)
		return 1;
	return write(pair[1], "x", 1) == 1 && is_down(pid) ? broke("it is dead") : 1;
}
