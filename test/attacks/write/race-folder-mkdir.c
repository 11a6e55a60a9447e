/* A folder exchanged with a link outside, while folders are made in it. */
#include "../race.h"
static void *swap(void *context)
{
	while (flipping(context))
		syscall(SYS_renameat2, AT_FDCWD, "d", AT_FDCWD, "e", 2);
	return NULL;
}
int main(void)
{
	struct race *r = race_of("a", "b");
	pthread_t thread;
	char name[32];
	mkdir("d", 0700);
	symlink(OUTSIDE, "e");
	pthread_create(&thread, NULL, swap, r);
	for (int i = 0; goes_on(r, i); i++) {
		snprintf(name, sizeof name, "d/n%d", i);
		mkdir(name, 0700);
	}
	return r->over = 1, 0;
}
