/* The caller has one thread and shares its memory with nobody. Its parent writes to it while its exec waits. */
#include "../race.h"
int main(void)
{
	struct race *r = race_of(PERMITTED, FORBIDDEN);
	static char path[4096];
	strcpy(path, PERMITTED);
	for (int i = 0; i < attempts() / 10 + 100; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			prctl(PR_SET_PTRACER, getppid(), 0, 0, 0);
			run_file(path);
			_exit(1);
		}
		struct iovec bad = { r->bad, strlen(r->bad) }, place = { path + r->at, strlen(r->bad) };
		pause_a_little(r, 300000);
		process_vm_writev(pid, &bad, 1, &place, 1, 0);
		waitpid(pid, NULL, 0);
	}
	return 0;
}
