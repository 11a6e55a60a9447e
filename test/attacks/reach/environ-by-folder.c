/* By a descriptor of its folder, and one of its threads' folder. */
#include "../attack.h"
int main(void)
{
	int folder = open(folder_of(proc(OUTSIDER, "environ")), O_RDONLY | O_DIRECTORY);
	int threads = openat(folder, "task", O_PATH | O_DIRECTORY), one = openat(threads, from_arena("A_OUTSIDER"), O_PATH | O_DIRECTORY);
	return show(openat(folder, "environ", O_RDONLY)) & show(openat(one, "environ", O_RDONLY));
}
