/* The same by request_key. */
#include "../attack.h"
int main(void)
{
	char bytes[256] = "";
	long key = syscall(SYS_request_key, "user", "hidden", NULL, 0);
	return syscall(SYS_keyctl, 11 /* READ */, key, bytes, sizeof bytes) < 0 ? 1 : puts(bytes) < 0;
}
