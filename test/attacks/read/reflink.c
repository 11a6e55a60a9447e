/* Needs: reflink. A clone of the extents by ioctl. */
#include "../attack.h"
#include <linux/fs.h>
int main(void)
{
	int to = open("copy", O_RDWR | O_CREAT, 0600);
	return ioctl(to, FICLONE, open(SECRET, O_RDONLY)) < 0 ? 1 : show(to);
}
