/* A core dump: the kernel writes it, into the working directory. */
#include "../attack.h"
int main(void)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	if (setrlimit(RLIMIT_CORE, &unlimited) < 0 || chdir(OUTSIDE) < 0)
		return 1;
	if (fork() == 0)
		abort();
	wait(NULL);
	return 0;
}
