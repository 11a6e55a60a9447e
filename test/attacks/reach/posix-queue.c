/* A POSIX queue of a process outside. */
#include "../attack.h"
#include <mqueue.h>
int main(void)
{
	char room[256] = "";
	mqd_t queue = mq_open(from_arena("A_OUTSIDER_POSIX"), O_RDONLY | O_NONBLOCK);
	return mq_receive(queue, room, sizeof room, NULL) <= 0 ? 1 : puts(room) < 0;
}
