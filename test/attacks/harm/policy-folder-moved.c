/* The folder of the policy moved away, and another put in its place. */
#include "../attack.h"
int main(void)
{
	const char *folder = folder_of(from_arena("A_POLICY"));
	if (rename(folder, in(ALLOWED, "moved")) < 0)
		return 1;
	broke("the policy is gone");
	return rename(in(ALLOWED, "moved"), folder);
}
