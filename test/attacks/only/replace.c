/* A permitted name in a folder of ours, given to another program. */
#include "../attack.h"
int main(void)
{
	symlink(FORBIDDEN, "permitted-script");
	return run_file("./permitted-script"), 1;
}
