/* The loader again, as a copy in a folder of ours. */
#include "../attack.h"
int main(void)
{
	char *words[] = { "ld", (char *)text("%s/dynamic", folder_of(FORBIDDEN), NULL), NULL };
	extern char **environ;
	copy("/lib64/ld-linux-x86-64.so.2", "ld");
	return execve("./ld", words, environ), 1;
}
