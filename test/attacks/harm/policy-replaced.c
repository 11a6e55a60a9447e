/* The policy replaced by another file. */
#include "../attack.h"
int main(void)
{
	put("mine", "name: mine\nrules: []\n");
	return rename("mine", from_arena("A_POLICY")) == 0 ? broke("the policy is ours") : 1;
}
