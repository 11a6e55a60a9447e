/* A path that ends with the last byte before a page that is not there. */
#include "../attack.h"
int main(void)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *path = pages + 4096 - strlen(SECRET) - 1;
	munmap(pages + 4096, 4096);
	return show_file(strcpy(path, SECRET));
}
