/* From inside of its folder: the path names no process. */
#include "../attack.h"
int main(void)
{
	return chdir(folder_of(proc(OUTSIDER, "environ"))) < 0 ? 1 : show_file("environ") & show_file(text("task/%s/environ", from_arena("A_OUTSIDER"), NULL));
}
