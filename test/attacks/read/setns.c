/* Needs: root. Through the mount namespace of another process. */
#include "../attack.h"
int main(void)
{
	int fd = open(proc(getppid(), "ns/mnt"), O_RDONLY);
	return setns(fd, CLONE_NEWNS) < 0 ? 1 : show_file(SECRET);
}
