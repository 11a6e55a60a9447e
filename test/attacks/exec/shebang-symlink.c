/* A script whose interpreter is a link to it. */
#include "../attack.h"
int main(void)
{
	symlink(FORBIDDEN, "sh");
	put("script", text("#!%s/sh\n", ALLOWED, NULL));
	chmod("script", 0755);
	return run_file("./script"), 1;
}
