/* A second name made from a descriptor alone: linkat with AT_EMPTY_PATH. Needs: root. */
#include "../attack.h"
int main(void)
{
	return linkat(open(SECRET, O_PATH), "", AT_FDCWD, "second", AT_EMPTY_PATH) < 0 ? 1 : show_file("second");
}
