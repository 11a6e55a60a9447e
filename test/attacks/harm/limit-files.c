/* prlimit: no more files for the supervisor. */
#include "../attack.h"
int main(void)
{
	struct rlimit none = { 1, 1 };
	return prlimit(supervisor(), RLIMIT_NOFILE, &none, NULL) == 0 ? broke("it cannot open files any more") : 1;
}
