/* The same with splice. */
#include "../attack.h"
int main(void)
{
	int ends[2], fd = open(SECRET, O_RDONLY);
	return pipe(ends) < 0 || splice(fd, NULL, ends[1], NULL, 4096, 0) < 0 ? 1 : show(ends[0]);
}
