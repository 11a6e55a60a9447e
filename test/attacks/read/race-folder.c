/* A folder exchanged with a link to the secret's folder. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(PUBLIC, SECRET);
	mkdir("d", 0700);
	put("d/token", "nothing");
	symlink(folder_of(SECRET), "e");
	start_exchange(r, "d", "e", 0);
	return race_reads_of(r, "d/token");
}
