/* A copy in a file that is nowhere (memfd_create). */
#include "../attack.h"
int main(void)
{
	extern char **environ;
	char *words[] = { "x", NULL };
	int fd = memfd_create("ls", 0);
	if (sendfile(fd, open(FORBIDDEN, O_RDONLY), NULL, 1 << 26) < 0)
		return 1;
	return syscall(SYS_execveat, fd, "", words, environ, AT_EMPTY_PATH), 1;
}
