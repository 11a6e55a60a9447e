/* Needs: root. After a chroot its path is another. */
#include "../attack.h"
int main(void)
{
	return chroot(OUTSIDE) < 0 ? 1 : change(open("/file", O_WRONLY));
}
