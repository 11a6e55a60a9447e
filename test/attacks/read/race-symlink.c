/* A link that leads here and there: what it led to when it was looked at is not what is opened. */
#include "../race.h"
static void *swap(void *context)
{
	struct race *r = context;
	symlink(PUBLIC, "a");
	symlink(SECRET, "b");
	symlink(PUBLIC, "link");
	while (flipping(r))
		syscall(SYS_renameat2, AT_FDCWD, "link", AT_FDCWD, "b", 2);
	return NULL;
}
int main(void)
{
	struct race *r = race_of(PUBLIC, SECRET);
	pthread_t thread;
	pthread_create(&thread, NULL, swap, r);
	strcpy(r->path, "link");
	return race_reads(r);
}
