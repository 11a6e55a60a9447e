/* The access mode 3 means "neither", but opens for ioctl; then through /proc for reading. */
#include "../attack.h"
int main(void)
{
	char path[64];
	int fd = open(SECRET, 3);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return fd < 0 ? 1 : show_file(path);
}
