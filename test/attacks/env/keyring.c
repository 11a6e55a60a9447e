/* The session's keyring comes along with every fork and exec. */
#include "../attack.h"
int main(void)
{
	char bytes[256] = "";
	long key = syscall(SYS_keyctl, 10 /* SEARCH */, -3, "user", "hidden", 0);
	return syscall(SYS_keyctl, 11 /* READ */, key, bytes, sizeof bytes) < 0 ? 1 : puts(bytes) < 0;
}
