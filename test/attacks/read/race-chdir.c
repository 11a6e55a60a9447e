/* Threads share a working directory: a relative path, while another thread changes it. */
#include "../race.h"
static void *wander(void *context)
{
	struct race *r = context;
	const char *good = folder_of(PUBLIC), *bad = folder_of(SECRET);
	while (flipping(r)) {
		chdir(good);
		chdir(bad);
	}
	return NULL;
}
int main(void)
{
	struct race *r = race_of(PUBLIC, SECRET);
	pthread_t thread;
	pthread_create(&thread, NULL, wander, r);
	strcpy(r->path, "token");
	return race_reads(r);
}
