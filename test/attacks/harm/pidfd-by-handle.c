/* A pidfd by its file handle: those of pidfs count upwards, and anybody may open them. */
#include "../peer.h"
enum { PIDFS_ROOT = -10002, BACK = 200000 };
int main(void)
{
	struct {
		struct file_handle head;
		uint64_t number;
		uint8_t rest[64];
	} handle = { .head.handle_bytes = 64 };
	int own = (int)syscall(SYS_pidfd_open, getpid(), 0), mount;
	pid_t pid = supervisor();
	if (syscall(SYS_name_to_handle_at, own, "", &handle, &mount, AT_EMPTY_PATH) < 0)
		return 1;
	for (int i = 0; i < BACK; i++, handle.number--) {
		int pidfd = (int)syscall(SYS_open_by_handle_at, own, &handle, O_CLOEXEC);
		if (pidfd < 0)
			continue;
		if (pid_of(pidfd) == pid)
			return syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0 && is_down(pid) ? broke("it is dead") : 1;
		close(pidfd);
	}
	return 1;
}
