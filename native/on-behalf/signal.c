/*
 * pidfd_send_signal on behalf. The process behind the descriptor that was decided on gets the signal, even if the
 * descriptor's number refers to another process by now.
 */
#define _GNU_SOURCE
#include "on-behalf.h"
#include "../tracee/identity.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The receiver sees the program as the sender. Only the code differs (SI_QUEUE), because the kernel lets no process claim
 * SI_USER for another. The kernel checks the permission by the ids and capabilities that we have assumed.
 */
int64_t on_behalf_signal(const struct on_behalf_call *call)
{
	struct identity caller;
	siginfo_t info;
	int number = (int)call->args[1];
	int64_t failed = identity_read(call->tid, &caller);
	memset(&info, 0, sizeof info);
	if (failed)
		return failed;
	if (call->args[2] == 0) {
		info.si_signo = number;
		info.si_code = SI_QUEUE;
		info.si_pid = caller.inner;
		info.si_uid = caller.real_uid;
	} else if (on_behalf_read(call, call->args[2], &info, sizeof info) < 0) {
		return -EFAULT;
	}
	if ((failed = identity_show_ids()) < 0)
		return failed;
	unsigned int flags = (unsigned int)call->args[3];
	int64_t result = kernel_result(syscall(SYS_pidfd_send_signal, call->pins[0].object, number, &info, flags));
	return identity_hide_ids() < 0 ? -EPERM : result;
}
