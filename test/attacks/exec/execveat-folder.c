/* execveat relative to a folder's descriptor. */
#include "../attack.h"
int main(void)
{
	extern char **environ;
	char *words[] = { "x", NULL };
	return syscall(SYS_execveat, open(folder_of(FORBIDDEN), O_PATH), "forbidden", words, environ, 0), 1;
}
