/* A descriptor that whoever started the mediator had open: 5 is the secret. */
#include "../attack.h"
int main(void)
{
	for (int fd = 3; fd < 1024; fd++)
		show(fd);
	return 0;
}
