/* A script whose interpreter is a script whose interpreter it is. */
#include "../attack.h"
int main(void)
{
	put("a", text("#!%s x\n", FORBIDDEN, NULL));
	put("b", text("#!%s/a y\n", ALLOWED, NULL));
	put("c", text("#!%s/b\n", ALLOWED, NULL));
	chmod("a", 0755);
	chmod("b", 0755);
	chmod("c", 0755);
	return run_file("./c"), 1;
}
