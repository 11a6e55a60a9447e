/*
 * looker PID: every way to look into a process by /proc that the kernel guards by its ptrace rule; one line each, "ok" or
 * the errno's name. Without a number it looks into a child of its own; with "self" into itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], number[16];

static const char *at(const char *name)
{
	static char path[256];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void say(const char *way, long result)
{
	printf("%s %s\n", way, result < 0 ? strerrorname_np(errno) : "ok");
}

static long take(int fd)
{
	char byte;
	long got = fd < 0 ? -1 : read(fd, &byte, 1);
	int error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return got;
}

static void read_file(const char *name)
{
	say(name, take(open(at(name), O_RDONLY)));
}

static void open_file(const char *name, int flags)
{
	int fd = open(at(name), flags | O_NONBLOCK);
	say(name, fd);
	if (fd >= 0)
		close(fd);
}

static void read_link(const char *name)
{
	char text[256], way[64];
	snprintf(way, sizeof way, "readlink:%s", name);
	say(way, readlink(at(name), text, sizeof text));
}

static void in_turns(void)
{
	char path[64];
	struct stat info;
	struct open_how how = { .flags = O_RDONLY, .resolve = RESOLVE_NO_XDEV };
	int held = open(at("environ"), O_PATH), process = open(folder, O_PATH | O_DIRECTORY), proc = open("/proc", O_PATH);
	snprintf(path, sizeof path, "/proc/self/fd/%d", held);
	say("held", take(open(path, O_RDONLY)));
	say("from-folder", take(openat(process, "environ", O_RDONLY)));
	snprintf(path, sizeof path, "%s/environ", number);
	say("restricted", take((int)syscall(SYS_openat2, proc, path, &how, sizeof how)));
	say("stat-through-root", stat(at("root/etc/hostname"), &info));
	say("stat-through-fd", stat(at("fd/0"), &info));
	unlink("link");
	if (symlink(at("environ"), "link") == 0)
		say("link", take(open("link", O_RDONLY)));
	unlink("link");
	int home = open(".", O_PATH | O_DIRECTORY);
	if (chdir(folder) == 0)
		say("from-inside", take(open("environ", O_RDONLY)));
	if (fchdir(home) < 0)
		exit(1);
}

static pid_t child(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	return pid;
}

int main(int argc, char **argv)
{
	char thread[64];
	pid_t own = argc < 2 ? child() : 0, pid = own ? own : strcmp(argv[1], "self") == 0 ? getpid() : atoi(argv[1]);
	snprintf(number, sizeof number, "%d", (int)pid);
	snprintf(folder, sizeof folder, "/proc/%d", (int)pid);
	static const char *const FILES[] = { "environ", "auxv", "maps", "smaps", "smaps_rollup", "numa_maps", "fdinfo/0" };
	static const char *const LINKS[] = { "exe", "cwd", "root", "fd/0", "ns/pid" };
	for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++)
		read_file(FILES[i]);
	open_file("mem", O_RDWR);
	open_file("pagemap", O_RDONLY);
	open_file("fd/0", O_WRONLY);
	open_file("cwd", O_RDONLY);
	read_file("exe");
	read_file("root/etc/hostname");
	for (size_t i = 0; i < sizeof LINKS / sizeof LINKS[0]; i++)
		read_link(LINKS[i]);
	snprintf(thread, sizeof thread, "task/%s/environ", number);
	read_file(thread);
	snprintf(thread, sizeof thread, "task/%s/mem", number);
	open_file(thread, O_RDONLY);
	snprintf(thread, sizeof thread, "task/%s/root/etc/hostname", number);
	read_file(thread);
	in_turns();
	if (own)
		kill(own, SIGKILL), waitpid(own, NULL, 0);
	return 0;
}
