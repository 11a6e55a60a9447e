/* The folder of a process in another mount namespace, held open. */
#include "../attack.h"
int main(void)
{
	int folder = open(proc(HERMIT, "cwd"), O_PATH | O_DIRECTORY);
	return show(openat(folder, "token", O_RDONLY));
}
