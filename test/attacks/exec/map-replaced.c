/* Another file is moved onto its name while it is mapped: from then on it is called deleted. */
#include "../attack.h"
int main(void)
{
	const char *file = in(folder_of(FORBIDDEN), "code");
	int fd = open(file, O_RDONLY);
	put("other", "harmless");
	void *code = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	if (code == MAP_FAILED || rename("other", file) < 0 || mprotect(code, 4096, PROT_READ | PROT_EXEC) < 0)
		return 1;
	((void (*)(void))code)();
	return 0;
}
