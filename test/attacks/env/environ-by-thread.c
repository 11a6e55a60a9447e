/* The same by a thread's number. */
#include "../attack.h"
int main(void)
{
	char name[64];
	snprintf(name, sizeof name, "task/%d/environ", (int)supervisor());
	return show_file(proc(supervisor(), name));
}
