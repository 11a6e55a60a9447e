/* Mapped instead of read. */
#include "../attack.h"
int main(void)
{
	char *bytes = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open(SECRET, O_RDONLY), 0);
	return bytes == MAP_FAILED ? 1 : write(1, bytes, 40) < 0;
}
