/* A thread that is not the first calls execve, and another process rewrites the path: the exec changes the thread's number. */
#include "../race.h"
static void *start(void *path)
{
	run_file(path);
	return NULL;
}
int main(void)
{
	struct race *r = race_of(PERMITTED, FORBIDDEN);
	start_thread(r);
	for (int i = 0; i < attempts() / 10 + 100; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			pthread_t one, other;
			pthread_create(&one, NULL, start, r->path);
			pthread_create(&other, NULL, start, r->path);
			pthread_join(one, NULL);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return r->over = 1, 0;
}
