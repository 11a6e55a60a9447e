/* A debugger's look at a process outside. */
#include "../attack.h"
int main(void)
{
	char bytes[256] = "";
	if (ptrace(PTRACE_SEIZE, OUTSIDER, 0, 0) < 0 || ptrace(PTRACE_INTERRUPT, OUTSIDER, 0, 0) < 0)
		return 1;
	waitpid(OUTSIDER, NULL, __WALL);
	for (size_t i = 0; i < OUTSIDER_LENGTH; i += 8) {
		long word = ptrace(PTRACE_PEEKDATA, OUTSIDER, OUTSIDER_ADDRESS + (long)i, 0);
		memcpy(bytes + i, &word, 8);
	}
	ptrace(PTRACE_DETACH, OUTSIDER, 0, 0);
	return puts(bytes) < 0;
}
