/* A folder exchanged with a link to the secret's folder. */
#include "../race.h"
static void *swap(void *context)
{
	struct race *r = context;
	while (flipping(r))
		syscall(SYS_renameat2, AT_FDCWD, "d", AT_FDCWD, "e", 2);
	return NULL;
}
int main(void)
{
	struct race *r = race_of(PUBLIC, SECRET);
	pthread_t thread;
	mkdir("d", 0700);
	put("d/token", "nothing");
	symlink(folder_of(SECRET), "e");
	pthread_create(&thread, NULL, swap, r);
	strcpy(r->path, "d/token");
	return race_reads(r);
}
