/*
 * netns WAY FILE [TEXT]: in a network namespace of its own, by clone or unshare, writes TEXT to the file, or reads it. FILE
 * "tun" makes a device of that kind, and says how many of it are there. Prints what it read, or "errno N".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char **words;

static int failed(void)
{
	printf("errno %d\n", errno);
	return 0;
}

static int make_device(void)
{
	struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI, .ifr_name = "hermes-t" };
	char line[512];
	int fd = open("/dev/net/tun", O_RDWR), count = 0;
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request) < 0)
		return failed();
	FILE *devices = fopen("/proc/self/net/dev", "r");
	while (devices && fgets(line, sizeof line, devices))
		count += strstr(line, "hermes-t:") != NULL;
	printf("%d\n", count);
	return 0;
}

static int inside(void *unused)
{
	char text[512];
	(void)unused;
	if (strcmp(words[2], "tun") == 0)
		return make_device();
	int fd = open(words[2], words[3] ? O_WRONLY : O_RDONLY);
	if (fd < 0)
		return failed();
	ssize_t length = words[3] ? write(fd, words[3], strlen(words[3])) : read(fd, text, sizeof text - 1);
	if (length < 0)
		return failed();
	text[words[3] ? 0 : length] = 0;
	fputs(text, stdout);
	return 0;
}

static int inside_child(void *unused)
{
	int result = inside(unused);
	fflush(stdout);
	return result;
}

int main(int argc, char **argv)
{
	static char stack[65536];
	int spaces = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
	if (argc < 3)
		return 2;
	words = argv;
	if (strcmp(argv[1], "unshare") == 0)
		return unshare(spaces) < 0 ? 1 : inside(NULL);
	pid_t child = clone(inside_child, stack + sizeof stack, spaces | SIGCHLD, NULL);
	return child < 0 || waitpid(child, NULL, 0) < 0;
}
