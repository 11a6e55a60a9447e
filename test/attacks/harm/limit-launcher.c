/* prlimit on the process above us. */
#include "../attack.h"
int main(void)
{
	struct rlimit none = { 1, 1 };
	return prlimit(launcher(), RLIMIT_NPROC, &none, NULL) == 0 ? broke("it is limited") : 1;
}
