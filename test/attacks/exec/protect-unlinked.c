/* Mapped as data, its name taken away, and made executable then. */
#include "../attack.h"
int main(void)
{
	const char *file = in(folder_of(FORBIDDEN), "code");
	int fd = open(file, O_RDONLY);
	void *code = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	if (code == MAP_FAILED || unlink(file) < 0 || mprotect(code, 4096, PROT_READ | PROT_EXEC) < 0)
		return 1;
	((void (*)(void))code)();
	return 0;
}
