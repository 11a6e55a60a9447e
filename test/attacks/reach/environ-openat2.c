/* openat2 below a descriptor of /proc, kept beneath it. */
#include "../attack.h"
int main(void)
{
	struct open_how how = { .flags = O_RDONLY, .resolve = 0x08 /* RESOLVE_BENEATH */ };
	int root = open("/proc", O_PATH | O_DIRECTORY);
	return show((int)syscall(SYS_openat2, root, text("%s/environ", from_arena("A_OUTSIDER"), NULL), &how, sizeof how));
}
