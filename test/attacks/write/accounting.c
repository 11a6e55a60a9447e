/* Needs: root. Process accounting: the kernel writes it. */
#include "../attack.h"
int main(void)
{
	int status = worked(acct(outside_file()));
	if (fork() == 0)
		_exit(0);
	wait(NULL);
	acct(NULL);
	return status;
}
