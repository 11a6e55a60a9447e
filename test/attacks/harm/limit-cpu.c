/* prlimit: no more processor time for the supervisor. */
#include "../attack.h"
int main(void)
{
	struct rlimit none = { 0, 0 };
	return prlimit(supervisor(), RLIMIT_CPU, &none, NULL) == 0 ? broke("its time is up") : 1;
}
