/* Made executable with one mprotect that begins in memory of nobody's, and ends in its code. */
#include "../attack.h"
int main(void)
{
	int fd = open(in(folder_of(FORBIDDEN), "code"), O_RDONLY);
	char *room = mmap(NULL, 2 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *code = mmap(room + 4096, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
	if (room == MAP_FAILED || code == MAP_FAILED || mprotect(room, 2 * 4096, PROT_READ | PROT_EXEC) < 0)
		return 1;
	((void (*)(void))code)();
	return 0;
}
