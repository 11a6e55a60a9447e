/* A race for the descriptor of a signal: it is a child of ours when it is looked at, and the supervisor when it is used. */
#include "../race.h"
enum { NUMBER = 100 };
static struct race race;
static int child, above;
static void *exchange(void *unused)
{
	(void)unused;
	while (flipping(&race)) {
		dup2(child, NUMBER);
		pause_a_little(&race, 3000);
		dup2(above, NUMBER);
		pause_a_little(&race, 3000);
	}
	return NULL;
}
int main(void)
{
	pthread_t thread;
	pid_t own = fork(), pid = supervisor();
	if (own == 0)
		for (;;)
			pause();
	child = open(folder_of(proc(own, "stat")), O_RDONLY | O_DIRECTORY);
	above = open(folder_of(proc(pid, "stat")), O_RDONLY | O_DIRECTORY);
	if (child < 0 || above < 0 || dup2(child, NUMBER) < 0)
		return 1;
	pthread_create(&thread, NULL, exchange, NULL);
	for (int i = 0; goes_on(&race, i); i++)
		syscall(SYS_pidfd_send_signal, NUMBER, SIGSTOP, NULL, 0);
	race.over = 1;
	pthread_join(thread, NULL);
	kill(own, SIGKILL);
	return is_down(pid) ? broke("it has stopped") : 1;
}
