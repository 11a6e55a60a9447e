/* A script whose interpreter it is. */
#include "../attack.h"
int main(void)
{
	put("script", text("#!%s\n", FORBIDDEN, NULL));
	chmod("script", 0755);
	return run_file("./script"), 1;
}
