/* The policy under another name, where it may be written. */
#include "../attack.h"
int main(void)
{
	if (link(from_arena("A_POLICY"), "second") < 0)
		return 1;
	return change(open("second", O_WRONLY | O_TRUNC)) == 0 ? broke("the policy is ours") : 1;
}
