/*
 * Makes the calls that its input names, one a line, and tells how each ended: `0` or the number of an errno. With an
 * argument, it first restricts itself by Landlock: `H files ports scopes`, `P access path` and `N access port` come first.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static int ruleset = -1;

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static void restrict_self(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(446, ruleset, 0) < 0)
		fail("restrict");
	close(ruleset);
}

static void rule(const char *line)
{
	unsigned long long first = 0, second = 0, third = 0;
	char path[4096];
	if (sscanf(line, "H %llx %llx %llx", &first, &second, &third) == 3) {
		uint64_t handled[3] = { first, second, third };
		ruleset = (int)syscall(444, handled, sizeof handled, 0);
		if (ruleset < 0)
			fail("ruleset");
	} else if (sscanf(line, "P %llx %4095s", &first, path) == 2) {
		struct { uint64_t access; int32_t parent; } __attribute__((packed)) beneath = { first, open(path, O_PATH) };
		struct stat info;
		if (beneath.parent < 0)
			return;
		if (fstat(beneath.parent, &info) == 0 && !S_ISDIR(info.st_mode))
			beneath.access &= 0xc007;
		if (beneath.access && syscall(445, ruleset, 1, &beneath, 0) < 0)
			fail(path);
		close(beneath.parent);
	} else if (sscanf(line, "N %llx %llu", &first, &second) == 2) {
		uint64_t port[2] = { first, second };
		if (syscall(445, ruleset, 2, port, 0) < 0)
			fail("port");
	}
}

static int opened(int fd)
{
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int said(long result) { return result < 0 ? errno : 0; }

static int bind_unix(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	memcpy(a.sun_path, path, strnlen(path, sizeof a.sun_path - 1));
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0), error = said(bind(fd, (struct sockaddr *)&a, sizeof a));
	close(fd);
	return error;
}

static int on_port(const char *how, long family, long port)
{
	struct sockaddr_in a = { .sin_family = (sa_family_t)family, .sin_port = htons((uint16_t)port) };
	int binds = strncmp(how, "bind", 4) == 0, one = 1, flags = strstr(how, "fast") ? MSG_FASTOPEN : 0;
	int fd = socket(AF_INET, strstr(how, "udp") ? SOCK_DGRAM : SOCK_STREAM, 0);
	a.sin_addr.s_addr = htonl(family == AF_INET ? INADDR_LOOPBACK : INADDR_ANY);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	int error = said(binds ? bind(fd, (struct sockaddr *)&a, sizeof a)
			 : flags ? sendto(fd, "x", 1, flags, (struct sockaddr *)&a, sizeof a)
				 : connect(fd, (struct sockaddr *)&a, sizeof a));
	close(fd);
	return error;
}

static int call(const char *name, const char *one, const char *two, long a, long b)
{
	struct open_how how = { .flags = (uint64_t)a, .mode = a & O_CREAT ? (uint64_t)b : 0 };
	if (!strcmp(name, "open")) return opened(open(one, (int)a, (mode_t)b));
	if (!strcmp(name, "openat2")) return opened((int)syscall(SYS_openat2, AT_FDCWD, one, &how, sizeof how));
	if (!strcmp(name, "creat")) return opened(creat(one, (mode_t)b));
	if (!strcmp(name, "truncate")) return said(truncate(one, a));
	if (!strcmp(name, "mkdir")) return said(mkdir(one, (mode_t)b));
	if (!strcmp(name, "mknod")) return said(mknod(one, (mode_t)a, (dev_t)b));
	if (!strcmp(name, "unlink")) return said(unlink(one));
	if (!strcmp(name, "rmdir")) return said(rmdir(one));
	if (!strcmp(name, "unlinkat")) return said(unlinkat(AT_FDCWD, one, (int)a));
	if (!strcmp(name, "symlink")) return said(symlink("f", one));
	if (!strcmp(name, "link")) return said(link(one, two));
	if (!strcmp(name, "linkat")) return said(linkat(AT_FDCWD, one, AT_FDCWD, two, (int)a));
	if (!strcmp(name, "rename")) return said(rename(one, two));
	if (!strcmp(name, "renameat2")) return said(syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, two, (unsigned)a));
	if (!strcmp(name, "bind")) return bind_unix(one);
	if (strstr(name, "tcp") || strstr(name, "udp")) return on_port(name, a, b);
	fprintf(stderr, "unknown call %s\n", name);
	exit(2);
}

int main(int count, char **words)
{
	char line[16384], name[32], one[4096], two[4096];
	long a, b;
	int rules = count > 1 && !strcmp(words[1], "restrict");
	umask(022);
	while (fgets(line, sizeof line, stdin)) {
		if (strchr("HPN", line[0]) && rules) {
			rule(line);
			continue;
		}
		if (rules)
			restrict_self();
		rules = 0;
		if (sscanf(line, "%31s %4095s %4095s %ld %ld", name, one, two, &a, &b) != 5)
			fail(line);
		printf("%d\n", call(name, one, two, a, b));
	}
	return 0;
}
