/* A script that may run (it has the right name), with an interpreter that may not. */
#include "../attack.h"
int main(void)
{
	put("permitted-script", text("#!%s\n", FORBIDDEN, NULL));
	chmod("permitted-script", 0755);
	return run_file("./permitted-script"), 1;
}
