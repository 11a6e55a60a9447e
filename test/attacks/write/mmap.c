/* A shared mapping, written to. */
#include "../attack.h"
int main(void)
{
	char *bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open(outside_file(), O_RDWR), 0);
	return bytes == MAP_FAILED ? 1 : (bytes[0] = '!', 0);
}
