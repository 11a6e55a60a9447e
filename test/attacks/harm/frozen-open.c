/* An open that blocks (a FIFO without a writer) must not keep others waiting. */
#include "../attack.h"
int main(void)
{
	mkfifo("fifo", 0600);
	pid_t stuck = fork(), other;
	if (stuck == 0)
		_exit(open("fifo", O_RDONLY) < 0);
	usleep(200000);
	if ((other = fork()) == 0)
		_exit(mkdir("served", 0700) < 0);
	for (int i = 0; i < 300; i++, usleep(10000))
		if (waitpid(other, NULL, WNOHANG) == other) {
			kill(stuck, SIGKILL);
			return from_arena("A_SYSTEM")[0] == 'b' ? broke("whoever opens it for us would wait for ever") : 1;
		}
	broke("nobody is served any more");
	kill(stuck, SIGKILL);
	return 0;
}
