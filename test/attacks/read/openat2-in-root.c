/* openat2 with RESOLVE_IN_ROOT: an absolute path that is not what it says. */
#include "../attack.h"
int main(void)
{
	struct open_how how = { .flags = O_RDONLY, .resolve = 0x10 };
	int root = open(folder_of(folder_of(SECRET)), O_PATH | O_DIRECTORY);
	return show((int)syscall(SYS_openat2, root, text("/%s/../%s", name_of(folder_of(PUBLIC)), secret_from_above()), &how, sizeof how));
}
