/* execveat of a descriptor, with no path at all. */
#include "../attack.h"
int main(void)
{
	extern char **environ;
	char *words[] = { "x", NULL };
	return syscall(SYS_execveat, open(FORBIDDEN, O_PATH), "", words, environ, AT_EMPTY_PATH), 1;
}
