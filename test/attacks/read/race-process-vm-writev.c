/* Another process writes into our memory from afar. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(PUBLIC, SECRET);
	pid_t victim = getpid();
	char *path = strdup(r->path);
	prctl(PR_SET_PTRACER, -1, 0, 0, 0);
	if (fork() == 0) {
		struct iovec to = { path + r->at, strlen(r->good) }, from = to;
		for (int bad = 0; flipping(r); bad = !bad) {
			from.iov_base = bad ? r->bad : r->good;
			process_vm_writev(victim, &from, 1, &to, 1, 0);
			pause_a_little(r, 10000);
		}
		_exit(0);
	}
	return race_reads_of(r, path);
}
