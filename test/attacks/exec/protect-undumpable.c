/* Needs: ordinary. Mapped as data, and made executable when nobody may look at our mappings any more. */
#include "../attack.h"
int main(void)
{
	int fd = open(in(folder_of(FORBIDDEN), "code"), O_RDONLY);
	void *code = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	if (code == MAP_FAILED || prctl(PR_SET_DUMPABLE, 0) < 0)
		return 1;
	if (mprotect(code, 4096, PROT_READ | PROT_EXEC) < 0)
		return 1;
	((void (*)(void))code)();
	return 0;
}
