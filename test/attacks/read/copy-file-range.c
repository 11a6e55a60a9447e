/* The same with copy_file_range. */
#include "../attack.h"
int main(void)
{
	int to = open("copy", O_RDWR | O_CREAT, 0600);
	return copy_file_range(open(SECRET, O_RDONLY), NULL, to, NULL, 4096, 0) < 0 || lseek(to, 0, SEEK_SET) < 0 ? 1 : show(to);
}
