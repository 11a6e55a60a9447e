/* No execve at all: its code is mapped and jumped into. */
#include "../attack.h"
int main(void)
{
	int fd = open(in(folder_of(FORBIDDEN), "code"), O_RDONLY);
	void (*code)(void) = (void (*)(void))mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if ((void *)code == MAP_FAILED)
		return 1;
	code();
	return 0;
}
