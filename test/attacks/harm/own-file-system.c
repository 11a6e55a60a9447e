/* Serve a file system (FUSE) and open a file in it: whoever looks at that path waits for us, and we for them. Needs: root. */
#include "../attack.h"
#include <linux/fuse.h>

static void reply(int fd, uint64_t unique, int error, const void *body, size_t size)
{
	char room[512];
	struct fuse_out_header head = { .len = (uint32_t)(sizeof head + size), .error = error, .unique = unique };
	memcpy(room, &head, sizeof head);
	memcpy(room + sizeof head, body, size);
	if (write(fd, room, sizeof head + size) < 0)
		_exit(1);
}

/* Before it says that nothing is there, it makes a file: a call that must be served. */
static void serve(int fd)
{
	static char room[1 << 17];
	struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = 4096 };
	struct fuse_attr_out root = { .attr = { .ino = 1, .mode = S_IFDIR | 0755, .nlink = 2 } };
	const struct fuse_in_header *head = (void *)room;
	while (read(fd, room, sizeof room) > 0) {
		if (head->opcode == FUSE_INIT) {
			reply(fd, head->unique, 0, &init, sizeof init);
		} else if (head->opcode == FUSE_GETATTR) {
			reply(fd, head->unique, 0, &root, sizeof root);
		} else {
			close(open("made", O_WRONLY | O_CREAT, 0600));
			reply(fd, head->unique, -ENOENT, NULL, 0);
		}
	}
	_exit(0);
}

int main(void)
{
	char options[128];
	int fd = open("/dev/fuse", O_RDWR);
	mkdir("served-by-us", 0700);
	snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (fd < 0 || mount("attack", "served-by-us", "fuse", 0, options) < 0)
		return 1;
	pid_t daemon = fork(), caller, other;
	if (daemon == 0)
		serve(fd);
	close(fd);
	if ((caller = fork()) == 0)
		_exit(open("served-by-us/file", O_WRONLY | O_CREAT, 0600) < 0);
	usleep(300000);
	if ((other = fork()) == 0)
		_exit(open("other", O_WRONLY | O_CREAT, 0600) < 0);
	int served = 0;
	for (int i = 0; i < 300 && !served; i++, usleep(10000))
		served = waitpid(other, NULL, WNOHANG) == other;
	if (!served)
		broke("nobody is served any more");
	else if (from_arena("A_SYSTEM")[0] == 'b')
		broke("whoever looks at the path for us would wait for us");
	kill(daemon, SIGKILL);
	kill(caller, SIGKILL);
	kill(other, SIGKILL);
	waitpid(daemon, NULL, 0);
	umount2("served-by-us", MNT_DETACH);
	return 0;
}
