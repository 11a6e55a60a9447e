/* Garbage above the descriptor and the flags: O_RDONLY must not look like O_PATH, nor AT_FDCWD like a descriptor. */
#include "../attack.h"
int main(void)
{
	return show((int)syscall(SYS_openat, 0x1234567800000000 | (uint32_t)AT_FDCWD, SECRET, 0x7fffffff00000000, 0));
}
