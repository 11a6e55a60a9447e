/* Its name is taken away while it is open: what has no name is in no list. */
#include "../attack.h"
int main(void)
{
	const char *file = in(folder_of(FORBIDDEN), "code");
	int fd = open(file, O_RDONLY);
	if (fd < 0 || unlink(file) < 0)
		return 1;
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (code == MAP_FAILED)
		return 1;
	((void (*)(void))code)();
	return 0;
}
