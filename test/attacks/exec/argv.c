/* Under another name of its own: argv says "ls". */
#include "../attack.h"
int main(void)
{
	char *words[] = { "/bin/ls", NULL }, *none[] = { NULL };
	return execve(text("%s/../tools/./forbidden", folder_of(FORBIDDEN), NULL), words, none), 1;
}
