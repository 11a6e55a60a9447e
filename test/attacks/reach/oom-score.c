/* A process outside is to be ended first when memory is short. */
#include "../attack.h"
int main(void)
{
	int fd = open(proc(OUTSIDER, "oom_score_adj"), O_WRONLY);
	return worked(write(fd, "1000", 4));
}
