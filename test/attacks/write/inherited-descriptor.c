/* A descriptor that whoever started the mediator had open: 6 is the file outside. */
#include "../attack.h"
int main(void)
{
	for (int fd = 3; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			change(fd);
	return 0;
}
