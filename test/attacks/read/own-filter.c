/* A filter of our own that says TRACE with another message: it must not be taken for the mediator's. */
#include "../attack.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
int main(void)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG) };
	struct sock_fprog program = { 1, code };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return 1;
	return show_file(SECRET);
}
