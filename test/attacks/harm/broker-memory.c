/* Writes into the memory of our parent, which makes calls for us. */
#include "../attack.h"
int main(void)
{
	return open(proc(broker(), "mem"), O_RDWR) >= 0 ? broke("its memory is ours") : 1;
}
