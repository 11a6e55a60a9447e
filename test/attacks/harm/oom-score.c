/* The supervisor is the first to be killed when memory runs out. */
#include "../attack.h"
int main(void)
{
	int fd = open(proc(supervisor(), "oom_score_adj"), O_WRONLY);
	return write(fd, "1000", 4) == 4 ? broke("it is killed first") : 1;
}
