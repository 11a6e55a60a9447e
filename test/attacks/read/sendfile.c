/* The bytes never pass through our memory: sendfile. */
#include "../attack.h"
int main(void)
{
	int ends[2], fd = open(SECRET, O_RDONLY);
	return pipe(ends) < 0 || sendfile(ends[1], fd, NULL, 4096) < 0 ? 1 : show(ends[0]);
}
