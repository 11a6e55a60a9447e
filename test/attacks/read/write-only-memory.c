/* A path in memory that may be executed only, where the processor can enforce it; else in a file mapped read-only. */
#include "../attack.h"
int main(void)
{
	put("path", SECRET);
	char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, open("path", O_RDONLY), 0);
	mprotect(page, 4096, PROT_EXEC);
	return show_file(page);
}
