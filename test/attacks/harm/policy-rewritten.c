/* The policy is a file like any other, and takes effect when it is saved. */
#include "../attack.h"
int main(void)
{
	int fd = open(from_arena("A_POLICY"), O_WRONLY | O_TRUNC);
	return fd >= 0 && write(fd, "name: mine\nrules: []\n", 21) == 21 ? broke("the policy is ours") : 1;
}
