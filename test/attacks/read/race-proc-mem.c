/* Another process writes into our memory through /proc/PID/mem. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(PUBLIC, SECRET);
	char *path = strdup(r->path);
	pid_t victim = getpid();
	if (fork() == 0) {
		int memory = open(proc(victim, "mem"), O_WRONLY);
		for (int bad = 0; memory >= 0 && flipping(r); bad = !bad) {
			pwrite(memory, bad ? r->bad : r->good, strlen(r->good), (off_t)(uintptr_t)(path + r->at));
			pause_a_little(r, 10000);
		}
		_exit(0);
	}
	return race_reads_of(r, path);
}
