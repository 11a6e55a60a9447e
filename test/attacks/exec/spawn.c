/* posix_spawn, which is vfork in disguise. */
#include "../attack.h"
#include <spawn.h>
int main(void)
{
	extern char **environ;
	char *words[] = { "x", NULL };
	pid_t pid;
	if (posix_spawn(&pid, FORBIDDEN, NULL, NULL, words, environ) != 0)
		return 1;
	return waitpid(pid, NULL, 0) < 0;
}
