/* Anybody of the same user may write some files of /proc: its name, its timer slack. */
#include "../attack.h"
int main(void)
{
	int fd = open(proc(supervisor(), "coredump_filter"), O_WRONLY);
	return fd >= 0 && write(fd, "0x3f", 4) == 4 ? broke("what it leaves behind when it crashes is ours to choose") : 1;
}
