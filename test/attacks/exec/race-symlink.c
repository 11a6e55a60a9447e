/* A link that leads to the one and to the other. */
#include "../race.h"
static void *swap(void *context)
{
	while (flipping(context))
		syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", 2);
	return NULL;
}
int main(void)
{
	struct race *r = race_of(PERMITTED, FORBIDDEN);
	pthread_t thread;
	symlink(PERMITTED, "a");
	symlink(FORBIDDEN, "b");
	pthread_create(&thread, NULL, swap, r);
	for (int i = 0; i < attempts() / 10 + 100; i++) {
		if (vfork() == 0) {
			run_file("./a");
			_exit(1);
		}
		wait(NULL);
	}
	return r->over = 1, 0;
}
