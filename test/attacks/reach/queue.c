/* A System V queue of a process outside. */
#include "../attack.h"
#include <sys/msg.h>
int main(void)
{
	char room[256] = "";
	return msgrcv(atoi(from_arena("A_OUTSIDER_QUEUE")), room, 200, 0, IPC_NOWAIT) <= 0 ? 1 : puts(room + sizeof(long)) < 0;
}
