/* Inode flags, by an ioctl on a descriptor for reading. */
#include "../attack.h"
#include <linux/fs.h>
int main(void)
{
	int fd = open(outside_file(), O_RDONLY), flags = 0;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return 1;
	flags |= FS_NODUMP_FL;
	return worked(ioctl(fd, FS_IOC_SETFLAGS, &flags)) ? 1 : broke("its inode flags were changed");
}
