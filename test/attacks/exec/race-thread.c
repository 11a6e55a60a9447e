/* A second thread rewrites the path between the check and the use. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(PERMITTED, FORBIDDEN);
	start_thread(r);
	for (int i = 0; i < attempts() / 10 + 100; i++) {
		if (vfork() == 0) {
			run_file(r->path);
			_exit(1);
		}
		wait(NULL);
	}
	return r->over = 1, 0;
}
