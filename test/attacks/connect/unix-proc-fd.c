/* Through an O_PATH handle of the socket. */
#include "../attack.h"
int main(void)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", open(SOCKET_FILE, O_PATH));
	return reach_file(path);
}
