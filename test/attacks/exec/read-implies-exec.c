/* A personality in which whatever is mapped to be read may be executed. */
#include "../attack.h"
#include <sys/personality.h>
int main(void)
{
	if (syscall(SYS_personality, 0x1234000000000000ul | READ_IMPLIES_EXEC) < 0)
		return 1;
	int fd = open(in(folder_of(FORBIDDEN), "code"), O_RDONLY);
	void *code = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	if (code == MAP_FAILED)
		return 1;
	((void (*)(void))code)();
	return 0;
}
