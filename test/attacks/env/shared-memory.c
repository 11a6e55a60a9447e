/* System V shared memory of a neighbour. */
#include "../attack.h"
#include <sys/shm.h>
int main(void)
{
	char *bytes = shmat(atoi(from_arena("A_KEEPER_SHARED")), NULL, SHM_RDONLY);
	return bytes == (void *)-1 ? 1 : puts(bytes) < 0;
}
