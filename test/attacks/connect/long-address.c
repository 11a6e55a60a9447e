/* More bytes than an address has, and garbage above the length. */
#include "../attack.h"
int main(void)
{
	char room[256] = "";
	struct sockaddr_in a = v4("127.0.0.1");
	memcpy(room, &a, sizeof a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	return syscall(SYS_connect, fd, room, 0x1234567800000000 | 100) < 0;
}
