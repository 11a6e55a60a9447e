/* A link that leads here and there. */
#include "../race.h"
static void *swap(void *context)
{
	while (flipping(context))
		syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", 2);
	return NULL;
}
int main(void)
{
	put("file", "");
	struct race *r = race_of(in(ALLOWED, "file"), outside_file());
	pthread_t thread;
	symlink(in(ALLOWED, "file"), "a");
	symlink(outside_file(), "b");
	strcpy(r->path, "a");
	pthread_create(&thread, NULL, swap, r);
	return race_writes(r);
}
