/* The neighbour's memory, word by word, as a debugger reads it. */
#include "../attack.h"
int main(void)
{
	pid_t pid = atoi(from_arena("A_KEEPER"));
	long at = strtol(from_arena("A_KEEPER_ADDRESS"), NULL, 16);
	char bytes[256] = "";
	if (ptrace(PTRACE_ATTACH, pid, 0, 0) < 0)
		return 1;
	waitpid(pid, NULL, 0);
	for (int i = 0; i < atoi(from_arena("A_KEEPER_LENGTH")); i += 8) {
		long word = ptrace(PTRACE_PEEKDATA, pid, at + i, 0);
		memcpy(bytes + i, &word, 8);
	}
	ptrace(PTRACE_DETACH, pid, 0, 0);
	return puts(bytes) < 0;
}
