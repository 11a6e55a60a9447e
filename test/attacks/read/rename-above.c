/* The folder above all of it, moved. */
#include "../attack.h"
int main(void)
{
	const char *arena = folder_of(folder_of(SECRET)), *moved = text("%s-moved", arena, NULL);
	if (rename(arena, moved) < 0)
		return 1;
	int status = show_file(in(moved, secret_from_above()));
	rename(moved, arena);
	return status;
}
