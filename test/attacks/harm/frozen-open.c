/* An open that blocks (a FIFO without a writer) must not keep others waiting. */
#include "../frozen.h"
int main(void)
{
	mkfifo("fifo", 0600);
	pid_t stuck = fork();
	if (stuck == 0)
		_exit(open("fifo", O_RDONLY) < 0);
	return is_served_beside(stuck, "whoever opens it for us would wait for ever");
}
